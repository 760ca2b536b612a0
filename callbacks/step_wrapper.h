// StepWrapper lets a callback wrap or replace a step of the loop: backward, the
// update of an optimizer, its schedules, zeroing its gradients. A callback that
// derives from it, too, does something before and after, or leaves out `next`.
//
//   class TimedBackward final : public Callback, public StepWrapper {
//    public:
//     void WrapBackward(const StepOutput&, StepContext&, Next next) override {
//       const double start = SteadySeconds();
//       next();
//       seconds_ += SteadySeconds() - start;
//     }
//     …
//   };
//
// Order: the wrapper with the lowest priority is outermost; equal ones are
// nested in the order in which they were added. Innermost is the task's method
// (Task::BackwardStep and so on). The events of the step are fired outside of
// all wrappers. A run without a StepWrapper pays nothing for it.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_STEP_WRAPPER_H_
#define TRAINYARD_CALLBACKS_STEP_WRAPPER_H_

#include <functional>

namespace trainyard {

class Optimizer;
class StepContext;
struct Clip;
struct StepOutput;

class StepWrapper {
 public:
  // The step inside this wrapper. Call it once, or not at all.
  using Next = const std::function<void()>&;

  virtual ~StepWrapper() = default;

  // Around Task::BackwardStep. Not called if TrainStep called Backward itself.
  virtual void WrapBackward(const StepOutput& output, StepContext& step,
                            Next next);
  // Around Task::OptimizerStep, for every batch and optimizer. Not called if
  // TrainStep called Update itself.
  virtual void WrapOptimizerStep(Optimizer& optimizer, const Clip& clip,
                                 StepContext& step, Next next);
  // Around Task::ScheduleStep, after an update that was applied.
  virtual void WrapScheduleStep(Optimizer& optimizer, StepContext& step,
                                Next next);
  // Around Task::ZeroGradStep, after an update, applied or skipped.
  virtual void WrapZeroGrad(Optimizer& optimizer, Next next);
};

inline void StepWrapper::WrapBackward(const StepOutput&, StepContext&,
                                      Next next) {
  next();
}
inline void StepWrapper::WrapOptimizerStep(Optimizer&, const Clip&,
                                           StepContext&, Next next) {
  next();
}
inline void StepWrapper::WrapScheduleStep(Optimizer&, StepContext&, Next next) {
  next();
}
inline void StepWrapper::WrapZeroGrad(Optimizer&, Next next) { next(); }

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STEP_WRAPPER_H_

// Callback is the base of everything that watches a run: one named hook per
// event, each doing nothing until it is overridden. Overrides must be public,
// so that CallbackHandler can see which there are: an event that a callback
// does not override costs nothing.
//
//   class PrintLoss final : public Callback {
//    public:
//     void OnEvalEnd(const EvalEnd& e, Control&) override {
//       std::cout << e.metrics.at("eval_loss") << "\n";
//     }
//   };
//
// What a callback changes (a model, an optimizer) it is given by its own
// constructor; events are const but for the history at an epoch's end. For one
// event a lambda will do:
//
//   On<StepEnd> count([&](const StepEnd&, Control&) { ++steps; });
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_CALLBACK_H_
#define TRAINYARD_CALLBACKS_CALLBACK_H_

#include <functional>
#include <string>
#include <utility>

#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

class Callback {
 public:
  virtual ~Callback() = default;

  // Lower runs first; equal ones run in the order they were added.
  virtual int priority() const { return 0; }

  // Named in errors and tables. By default the class name.
  virtual std::string name() const;

  virtual void OnInitEnd(const InitEnd&, Control&) {}
  virtual void OnRunStart(const RunStart&, Control&) {}
  virtual void OnEpochStart(const EpochStart&, Control&) {}
  virtual void OnStepStart(const StepStart&, Control&) {}
  virtual void OnForwardEnd(const ForwardEnd&, Control&) {}
  virtual void OnLossEnd(const LossEnd&, Control&) {}
  virtual void OnBackwardEnd(const BackwardEnd&, Control&) {}
  virtual void OnGradientsReady(const GradientsReady&, Control&) {}
  virtual void OnUpdateEnd(const UpdateEnd&, Control&) {}
  virtual void OnStepEnd(const StepEnd&, Control&) {}
  virtual void OnTrainEpochEnd(const TrainEpochEnd&, Control&) {}
  virtual void OnEvalStart(const EvalStart&, Control&) {}
  virtual void OnEvalStepStart(const EvalStepStart&, Control&) {}
  virtual void OnEvalStepEnd(const EvalStepEnd&, Control&) {}
  virtual void OnEvalEnd(const EvalEnd&, Control&) {}
  virtual void OnEpochEnd(const EpochEnd&, Control&) {}
  virtual void OnCheckpointSaved(const CheckpointSaved&, Control&) {}
  virtual void OnCheckpointLoaded(const CheckpointLoaded&, Control&) {}
  virtual void OnMetricsReport(const MetricsReport&, Control&) {}
  virtual void OnRunStopped(const RunStopped&, Control&) {}
  virtual void OnRunCancelled(const RunCancelled&, Control&) {}
  virtual void OnRunEnd(const RunEnd&, Control&) {}

 protected:
  Callback() = default;
  Callback(const Callback&) = default;
  Callback& operator=(const Callback&) = default;
};

// A callback that also derives from Handles<Event> receives any event type, a
// user's own included, through CallbackHandler::Fire.
template <class Event>
class Handles {
 public:
  virtual ~Handles() = default;
  virtual void Handle(const Event& event, Control& control) = 0;
};

// A callback made of one function for one event.
template <class Event>
class On final : public Callback, public Handles<Event> {
 public:
  using Function = std::function<void(const Event&, Control&)>;

  explicit On(Function function, int priority = 0)
      : function_(std::move(function)), priority_(priority) {}

  int priority() const override { return priority_; }
  void Handle(const Event& event, Control& control) override {
    function_(event, control);
  }

 private:
  Function function_;
  int priority_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_CALLBACK_H_

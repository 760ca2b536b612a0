// TerminateOnNaN asks the run to stop once a loss is not a number, or infinite:
// in training or evaluation, and if asked to, once a gradient is.
//
//   trainer.Add(TerminateOnNaN());
//   trainer.Add(TerminateOnNaN({.gradients = &optimizer}));
//
// The run ends after the batch in question, with RunEnding::kStopped and a
// message that names it. The update of that batch is not applied, on any rank,
// and no checkpoint is saved: the last good one stays the newest. With
// every_batches > 1, updates before the look have been applied.
//
// Thread-compatible: the loop calls it from one thread.
#ifndef TRAINYARD_CALLBACKS_STOPPING_TERMINATE_ON_NAN_H_
#define TRAINYARD_CALLBACKS_STOPPING_TERMINATE_ON_NAN_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

class Optimizer;

struct TerminateOnNaNOptions {
  // Batches between two looks. A look waits for the device, which costs nothing
  // on a CPU; on others a larger number lets it run ahead. No batch is
  // overlooked, its loss is only seen later. REQUIRES: >= 1.
  int64_t every_batches = 1;
  // Also looks at the gradients of this optimizer before each update. Borrowed.
  // Not for gradient scalers, which skip such updates and go on.
  Optimizer* gradients = nullptr;
};

class TerminateOnNaN final : public Callback {
 public:
  explicit TerminateOnNaN(TerminateOnNaNOptions options = {});

  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnLossEnd(const LossEnd& e, Control& control) override;
  void OnGradientsReady(const GradientsReady& e, Control& control) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control& control) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalStepEnd(const EvalStepEnd& e, Control& control) override;
  void OnEvalEnd(const EvalEnd& e, Control& control) override;

 private:
  // A pass under way. An evaluation may stand within an epoch.
  struct Pass {
    // For messages.
    std::string name;
    int64_t batches = 0;
    // Of the losses not yet looked at: not finite if one of them is not.
    at::Tensor sum = {};
    int64_t waiting = 0;
  };

  // Counts a loss in, and looks if it is time.
  void Add(const StepOutput& output, Pass& pass, Control& control) const;
  static void Look(Pass& pass, Control& control);

  TerminateOnNaNOptions options_;
  Pass training_;
  Pass evaluation_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_TERMINATE_ON_NAN_H_

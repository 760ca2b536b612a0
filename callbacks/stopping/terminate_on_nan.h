// TerminateOnNaN stops the run when a loss of training or evaluation is NaN or
// infinite; as an option, also when a gradient is.
//
//   trainer.Add(TerminateOnNaN());
//   trainer.Add(TerminateOnNaN({.gradients = &optimizer}));
//
// The run ends after that batch, with RunEnding::kStopped and a message that
// names it. The update of the batch is not applied on any rank, and no
// checkpoint is saved: the last good one stays the newest. With every_batches >
// 1, updates before the check have been applied.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_STOPPING_TERMINATE_ON_NAN_H_
#define TRAINYARD_CALLBACKS_STOPPING_TERMINATE_ON_NAN_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "callbacks/callback.h"
#include "callbacks/printing/late_values.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

class Optimizer;

struct TerminateOnNaNOptions {
  // Batches between two checks. 1: each loss is read at once, which waits for
  // the device; on a CPU that costs nothing. More: losses are added up on the
  // device, and their sum is read without a wait, a few batches after it is
  // known. Every loss is checked at the latest at the end of its epoch or
  // evaluation. REQUIRES: >= 1.
  int64_t every_batches = 1;
  // Also checks the gradients of this optimizer before each update. Borrowed.
  // Not for use with a gradient scaler, which skips such updates itself.
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
  // The current pass. An evaluation may be within an epoch.
  struct Pass {
    // For messages.
    std::string name;
    int64_t batches = 0;
    // The sum of the losses not yet checked: not finite if one of them is not.
    at::Tensor sum = {};
    int64_t waiting = 0;
    // A sum that is on its way from the device, of how many batches, and the
    // number of the last of them.
    LateValues late = {};
    at::Tensor late_sum = {};
    int64_t late_batches = 0;
    int64_t late_last = 0;
  };

  // Adds a loss, and checks if it is time.
  void Add(const StepOutput& output, Pass& pass, Control& control) const;
  // Starts to read the sum, unless an earlier one is on its way.
  static void Send(Pass& pass);
  // Looks at what has arrived.
  static void Receive(Pass& pass, Control& control);
  // Looks at everything, and waits for it.
  static void Look(Pass& pass, Control& control);

  TerminateOnNaNOptions options_;
  Pass training_;
  Pass evaluation_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_TERMINATE_ON_NAN_H_

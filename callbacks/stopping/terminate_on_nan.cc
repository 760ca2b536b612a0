#include "callbacks/stopping/terminate_on_nan.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <utility>
#include <vector>

#include "callbacks/printing/readable.h"
#include "trainer/optim/optimizer.h"
#include "trainer/scalar_value.h"
#include "trainer/task.h"

namespace trainyard {

TerminateOnNaN::TerminateOnNaN(TerminateOnNaNOptions options)
    : options_(options) {
  TORCH_CHECK_VALUE(options_.every_batches >= 1,
                    "TerminateOnNaN: every_batches is ", options_.every_batches,
                    "; it must be at least 1");
}

void TerminateOnNaN::OnEpochStart(const EpochStart& e, Control&) {
  training_ = {.name = "epoch " + std::to_string(e.clock.epoch() + 1),
               .batches = e.clock.epoch_batches()};
}

void TerminateOnNaN::OnLossEnd(const LossEnd& e, Control& control) {
  Add(e.output, training_, control);
}

void TerminateOnNaN::OnGradientsReady(const GradientsReady&, Control& control) {
  if (options_.gradients == nullptr) return;
  const std::vector<at::Tensor>& gradients = options_.gradients->Gradients();
  if (gradients.empty()) return;
  // One number to read, whatever the number of tensors.
  const double norm =
      at::stack(at::_foreach_norm(gradients)).norm().item<double>();
  if (std::isfinite(norm)) return;
  control.RequestStopAndDiscard("a gradient is not finite in " +
                                training_.name + ", batch " +
                                std::to_string(training_.batches));
}

void TerminateOnNaN::OnTrainEpochEnd(const TrainEpochEnd&, Control& control) {
  Look(training_, control);
}

void TerminateOnNaN::OnEvalStart(const EvalStart& e, Control&) {
  evaluation_ = {.name = "evaluation \"" + e.name + "\" after " +
                         std::to_string(e.clock.updates()) + " updates"};
}

void TerminateOnNaN::OnEvalStepEnd(const EvalStepEnd& e, Control& control) {
  Add(e.output, evaluation_, control);
}

void TerminateOnNaN::OnEvalEnd(const EvalEnd&, Control& control) {
  Look(evaluation_, control);
}

void TerminateOnNaN::Add(const StepOutput& output, Pass& pass,
                         Control& control) const {
  ++pass.batches;
  // The loss of a batch that weighs nothing is a mean over nothing.
  if (!output.loss.defined() || output.weight == 0.0) return;
  // The loop says what is wrong with a loss that is not one number.
  if (output.loss.numel() != 1) return;
  const at::Tensor loss = output.loss.detach();
  // Losses in half precision would overflow when added.
  pass.sum = pass.waiting == 0 ? loss : pass.sum.to(at::kDouble).add(loss);
  if (++pass.waiting >= options_.every_batches) Look(pass, control);
}

void TerminateOnNaN::Look(Pass& pass, Control& control) {
  if (pass.waiting == 0) return;
  const double sum = ScalarValue(pass.sum);
  const int64_t looked_at = std::exchange(pass.waiting, 0);
  pass.sum.reset();
  if (std::isfinite(sum)) return;
  if (looked_at == 1) {
    control.RequestStopAndDiscard("loss is " + ReadableValue(sum) + " in " +
                                  pass.name + ", batch " +
                                  std::to_string(pass.batches));
  } else {
    control.RequestStopAndDiscard("a loss is not finite in " + pass.name +
                                  ", batches " +
                                  std::to_string(pass.batches - looked_at + 1) +
                                  " to " + std::to_string(pass.batches));
  }
}

}  // namespace trainyard

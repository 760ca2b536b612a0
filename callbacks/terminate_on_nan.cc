#include "callbacks/terminate_on_nan.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <vector>

#include "callbacks/display/readable.h"
#include "trainer/optim/optimizer.h"
#include "trainer/task.h"

namespace trainyard {

TerminateOnNaN::TerminateOnNaN(TerminateOnNaNOptions options)
    : options_(options) {
  TORCH_CHECK_VALUE(options_.every_batches >= 1,
                    "TerminateOnNaN: every_batches is ", options_.every_batches,
                    "; it must be at least 1");
}

void TerminateOnNaN::OnEpochStart(const EpochStart& e, Control&) {
  pass_ = "epoch " + std::to_string(e.state.epoch + 1);
  sum_.reset();
  waiting_ = 0;
}

void TerminateOnNaN::OnLossEnd(const LossEnd& e, Control& control) {
  Add(e.output, e.state.batch_idx + 1, control);
}

void TerminateOnNaN::OnGradientsReady(const GradientsReady& e,
                                      Control& control) {
  if (options_.gradients == nullptr) return;
  const std::vector<at::Tensor>& gradients = options_.gradients->Gradients();
  if (gradients.empty()) return;
  // One number to read, whatever the number of tensors.
  const double norm =
      at::stack(at::_foreach_norm(gradients)).norm().item<double>();
  if (std::isfinite(norm)) return;
  control.RequestStop("a gradient is not finite in " + pass_ + ", batch " +
                      std::to_string(e.state.batch_idx + 1));
}

void TerminateOnNaN::OnTrainEpochEnd(const TrainEpochEnd& e, Control& control) {
  if (waiting_ > 0) Look(e.state.batch_idx, control);
}

void TerminateOnNaN::OnEvalStart(const EvalStart& e, Control&) {
  pass_ = "evaluation \"" + e.name + "\" after epoch " +
          std::to_string(e.state.epoch + 1);
  sum_.reset();
  waiting_ = 0;
}

void TerminateOnNaN::OnEvalStepEnd(const EvalStepEnd& e, Control& control) {
  Add(e.output, e.state.batch_idx, control);
}

void TerminateOnNaN::OnEvalEnd(const EvalEnd& e, Control& control) {
  if (waiting_ > 0) Look(e.state.batch_idx, control);
}

void TerminateOnNaN::Add(const StepOutput& output, int64_t batch,
                         Control& control) {
  if (!output.loss.defined()) return;
  const at::Tensor loss = output.loss.detach();
  // Losses in half precision would overflow when added.
  sum_ = waiting_ == 0 ? loss : sum_.to(at::kDouble).add(loss);
  if (++waiting_ >= options_.every_batches) Look(batch, control);
}

void TerminateOnNaN::Look(int64_t batch, Control& control) {
  const double sum = sum_.item<double>();
  const int64_t looked_at = waiting_;
  sum_.reset();
  waiting_ = 0;
  if (std::isfinite(sum)) return;
  if (looked_at == 1) {
    control.RequestStop("loss is " + ReadableValue(sum) + " in " + pass_ +
                        ", batch " + std::to_string(batch));
  } else {
    control.RequestStop("a loss is not finite in " + pass_ + ", batches " +
                        std::to_string(batch - looked_at + 1) + " to " +
                        std::to_string(batch));
  }
}

}  // namespace trainyard

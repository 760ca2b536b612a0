#include "callbacks/stopping/terminate_on_nan.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "callbacks/printing/readable.h"
#include "trainer/optim/optimizer.h"
#include "trainer/scalar_value.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

// The losses of some batches, the last of which has the number `last`.
struct Losses {
  const std::string& name;  // of the pass
  double sum;
  int64_t batches;
  int64_t last;
};

void Judge(const Losses& losses, Control& control) {
  if (std::isfinite(losses.sum)) return;
  if (losses.batches == 1) {
    control.RequestStopAndDiscard("loss is " + ReadableValue(losses.sum) +
                                  " in " + losses.name + ", batch " +
                                  std::to_string(losses.last));
  } else {
    control.RequestStopAndDiscard(
        "a loss is not finite in " + losses.name + ", batches " +
        std::to_string(losses.last - losses.batches + 1) + " to " +
        std::to_string(losses.last));
  }
}

}  // namespace

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
  // A loss that is read at once need not let go of its graph.
  const at::Tensor loss =
      options_.every_batches == 1 ? output.loss : output.loss.detach();
  // Losses in half precision would overflow when added.
  pass.sum = pass.waiting == 0 ? loss : pass.sum.to(at::kDouble).add(loss);
  ++pass.waiting;
  Receive(pass, control);
  if (pass.waiting < options_.every_batches) return;
  if (options_.every_batches == 1 || loss.is_cpu()) {
    Look(pass, control);
  } else {
    Send(pass);
  }
}

void TerminateOnNaN::Send(Pass& pass) {
  if (pass.late_batches > 0) return;
  pass.late.Start({{"sum", pass.sum}});
  pass.late_sum = std::exchange(pass.sum, {});
  pass.late_batches = std::exchange(pass.waiting, 0);
  pass.late_last = pass.batches;
}

void TerminateOnNaN::Receive(Pass& pass, Control& control) {
  if (pass.late_batches == 0) return;
  const std::optional<LateValues::Values> values = pass.late.Take();
  if (!values) return;
  Judge({.name = pass.name,
         .sum = values->front().second,
         .batches = std::exchange(pass.late_batches, 0),
         .last = pass.late_last},
        control);
  pass.late_sum.reset();
}

void TerminateOnNaN::Look(Pass& pass, Control& control) {
  if (pass.late_batches > 0) {
    pass.late.Drop();
    Judge({.name = pass.name,
           .sum = ScalarValue(std::exchange(pass.late_sum, {})),
           .batches = std::exchange(pass.late_batches, 0),
           .last = pass.late_last},
          control);
  }
  if (pass.waiting == 0) return;
  Judge({.name = pass.name,
         .sum = ScalarValue(std::exchange(pass.sum, {})),
         .batches = std::exchange(pass.waiting, 0),
         .last = pass.batches},
        control);
}

}  // namespace trainyard

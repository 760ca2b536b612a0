#include "trainer/step_runner.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

#include "trainer/events.h"

namespace trainyard {

StepRunner::StepRunner(Parts parts, Clip clip, ScheduleSet* schedules)
    : parts_(std::move(parts)), clip_(std::move(clip)), schedules_(schedules) {}

StepOutput StepRunner::Run(const AnyBatch& batch, int64_t batches_left,
                           int64_t all_samples) {
  StepState& state = parts_.state;
  if (state.batch_idx % state.grad_accum_steps == 0) {
    window_.Start(std::min(state.grad_accum_steps, batches_left));
  }
  is_boundary_ = state.IsGradAccumBoundary(batches_left == 1);
  batch_ = &batch;
  share_.reset();
  update_called_ = false;
  updated_ = false;

  parts_.callbacks.Fire(StepStart{state, batch});
  StepOutput output;
  parts_.backend.Forward([&] { output = parts_.task.TrainStep(batch, *this); });
  if (!output.weight) output.weight = static_cast<double>(batch.size());
  parts_.callbacks.Fire(LossEnd{state, batch, output});
  if (!share_) parts_.task.BackwardStep(output, *this);
  parts_.callbacks.Fire(BackwardEnd{state, output});
  if (!update_called_) {
    for (Optimizer* optimizer : parts_.optimizers) {
      parts_.task.OptimizerStep(*optimizer, clip_, *this);
    }
  }
  if (is_boundary_) parts_.backend.EndWindow();

  // The update is counted where it is made.
  state.IncrementBatch(
      {.batch_size = batch.size(), .all_samples = all_samples});
  if (schedules_ != nullptr) schedules_->Step(StepOn::kBatch);
  parts_.callbacks.Fire(StepEnd{state, batch, output});
  return output;
}

State StepRunner::SaveState() const {
  State state = window_.SaveState();
  state.Set("reference", reference_);
  state.Set("in_window", static_cast<int64_t>(in_window()));
  return state;
}

void StepRunner::LoadState(const State& state) {
  window_.LoadState(state);
  reference_ = state.Get<double>("reference");
  is_boundary_ = state.Get<int64_t>("in_window") == 0;
}

void StepRunner::ForwardDone(const at::Tensor& outputs) {
  parts_.callbacks.Fire(ForwardEnd{parts_.state, *batch_, outputs});
}

void StepRunner::Backward(const at::Tensor& loss,
                          std::optional<double> weight) {
  TORCH_CHECK_VALUE(loss.defined(), "Backward: there is no loss");
  TORCH_CHECK_VALUE(loss.numel() == 1, "the loss is of shape ", loss.sizes(),
                    "; it must be one number: take its mean()");
  TORCH_CHECK_VALUE(loss.requires_grad(),
                    "the loss has no gradient: nothing it was computed from "
                    "requires one. Are the parameters frozen, or was it "
                    "computed under NoGradGuard or from detached tensors?");
  // Several losses of one batch are over the same records: they are counted
  // once.
  if (!share_) {
    const auto size = static_cast<double>(batch_->size());
    const double counted = weight.value_or(size);
    TORCH_CHECK_VALUE(counted >= 0, "the weight of a batch is ", counted,
                      "; it must be at least 0");
    if (window_.empty()) reference_ = parts_.backend.ReferenceWeight(counted);
    // Nothing to refer to: no batch of the window weighed anything so far.
    share_ = reference_ > 0 ? window_.Add(counted, reference_) : 0;
    masked_ = counted == 0 && size > 0;
    if (masked_) {
      parts_.backend.BackwardWithoutBatch(
          {.sync = is_boundary_, .weight = window_.total()});
    }
  }
  // A mean over nothing is NaN, and so would be its gradients.
  if (masked_) return;
  parts_.backend.Backward(
      loss,
      {.share = *share_, .sync = is_boundary_, .weight = window_.total()});
}

bool StepRunner::Update(Optimizer& optimizer, const Clip& clip) {
  update_called_ = true;
  if (!is_boundary_) return false;
  const double total = parts_.backend.FinishGradients(optimizer);
  bool updated = false;
  // A window that weighs nothing on all ranks has no gradient to update with.
  if (total > 0) {
    const double divisor = window_.divisor(total);
    parts_.callbacks.Fire(GradientsReady{parts_.state, divisor});
    updated =
        parts_.backend.Update(optimizer, {.divisor = divisor, .clip = clip});
  }
  if (updated) {
    // Several optimizers updated in one step are one update of the run.
    if (!updated_) ++parts_.state.optimizer_step;
    updated_ = true;
    parts_.task.ScheduleStep(optimizer, *this);
  }
  parts_.callbacks.Fire(UpdateEnd{parts_.state, updated});
  parts_.task.ZeroGradStep(optimizer);
  return updated;
}

void StepRunner::StepSchedules(Optimizer& optimizer, StepOn on) {
  if (schedules_ != nullptr) schedules_->Step(on, &optimizer);
}

}  // namespace trainyard

#include "trainer/step_runner.h"

#include <algorithm>
#include <utility>

#include "trainer/events.h"

namespace trainyard {

StepRunner::StepRunner(const Parts& parts, Clip clip,
                       std::span<ScheduledField> schedules)
    : parts_(parts), clip_(std::move(clip)), schedules_(schedules) {}

StepOutput StepRunner::Run(const AnyBatch& batch, int64_t batches_left) {
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
  if (output.weight == 0) output.weight = static_cast<double>(batch.size());
  parts_.callbacks.Fire(LossEnd{state, batch, output});
  if (!share_) Backward(output.loss, output.weight);
  parts_.callbacks.Fire(BackwardEnd{state, output});
  if (!update_called_) Update(parts_.optimizer, clip_);
  if (is_boundary_) parts_.backend.EndWindow();

  state.IncrementBatch(
      {.batch_size = batch.size()});  // the update is counted where it is made
  parts_.callbacks.Fire(StepEnd{state, batch, output});
  return output;
}

void StepRunner::ForwardDone(const at::Tensor& outputs) {
  parts_.callbacks.Fire(ForwardEnd{parts_.state, *batch_, outputs});
}

void StepRunner::Backward(const at::Tensor& loss, double weight) {
  // Several losses of one batch are over the same records: they are counted
  // once.
  if (!share_) {
    if (weight == 0) weight = static_cast<double>(batch_->size());
    if (window_.empty()) reference_ = parts_.backend.ReferenceWeight(weight);
    share_ = window_.Add(weight, reference_);
  }
  parts_.backend.Backward(
      loss,
      {.share = *share_, .sync = is_boundary_, .weight = window_.total()});
}

bool StepRunner::Update(Optimizer& optimizer, const Clip& clip) {
  update_called_ = true;
  if (!is_boundary_) return false;
  const double divisor =
      window_.divisor(parts_.backend.FinishGradients(optimizer));
  parts_.callbacks.Fire(GradientsReady{parts_.state, divisor});
  const bool updated =
      parts_.backend.Update(optimizer, {.divisor = divisor, .clip = clip});
  if (updated && !updated_) {
    updated_ = true;
    ++parts_.state.optimizer_step;
    for (ScheduledField& field : schedules_) {
      field.Apply(parts_.state.optimizer_step);
    }
  }
  parts_.callbacks.Fire(UpdateEnd{parts_.state, updated});
  optimizer.ZeroGrad();
  return updated;
}

}  // namespace trainyard

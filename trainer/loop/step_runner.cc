#include "trainer/loop/step_runner.h"

#include <c10/util/Exception.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/Type.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "trainer/events.h"
#include "trainer/loop/captured_step.h"
#include "trainer/scalar_value.h"

namespace trainyard {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

StepRunner::StepRunner(Parts parts, Clip clip, ScheduleSet* schedules)
    : parts_(std::move(parts)),
      clip_(std::move(clip)),
      schedules_(schedules),
      wrappers_(parts_.callbacks.FindAllByPriority<StepWrapper>()) {
  if (parts_.captured == nullptr) return;
  for (const StepWrapper* pointer : wrappers_) {
    const StepWrapper& wrapper = *pointer;
    C10_THROW_ERROR(ValueError,
                    "StepRunner: steps are captured, but the callback " +
                        c10::demangle(typeid(wrapper).name()) +
                        " wraps steps, which a replay would leave out; remove "
                        "it, or train without capture_after_steps");
  }
  TORCH_CHECK_VALUE(
      parts_.clock.grad_accum_steps() == 1,
      "StepRunner: steps are captured, "
      "but an update has ",
      parts_.clock.grad_accum_steps(),
      " batches; set grad_accum_steps to 1 and no max_micro_batch_size, or "
      "train without capture_after_steps");
}

StepOutput StepRunner::Run(const AnyBatch& batch, int64_t batches_left,
                           std::optional<int64_t> all_samples) {
  RunClock& clock = parts_.clock;
  if (clock.StartsWindow()) {
    window_.Start(std::min(clock.grad_accum_steps(), batches_left));
    bad_loss_.reset();
  }
  clock.StartBatch();
  is_boundary_ = clock.EndsWindow(batches_left == 1);
  batch_ = &batch;
  share_.reset();
  batch_dropped_ = false;
  update_dropped_ = false;
  note_posted_ = false;
  update_called_ = false;
  updated_ = false;
  outcomes_due_ = true;

  parts_.callbacks.Fire(StepStart{clock, batch});
  const StepOutput output = RunPasses(batch);
  PostNote();  // of a step without Backward
  parts_.callbacks.Fire(BackwardEnd{clock, output});
  if (!update_called_) {
    for (Optimizer* optimizer : parts_.optimizers) {
      RunWrapped(
          [&](StepWrapper& wrapper, StepWrapper::Next next) {
            wrapper.WrapOptimizerStep(*optimizer, clip_, *this, next);
          },
          [&] { parts_.task.OptimizerStep(*optimizer, clip_, *this); });
    }
  }
  if (is_boundary_) {
    parts_.backend.EndWindow();
    dropped_in_a_row_ = update_dropped_ ? dropped_in_a_row_ + 1 : 0;
  }

  clock.CountBatch(all_samples.value_or(batch.size() * clock.num_processes()));
  if (schedules_ != nullptr) schedules_->Step(StepOn::kBatch);
  parts_.callbacks.Fire(StepEnd{clock, batch, output});
  return output;
}

StepOutput StepRunner::RunForward(const AnyBatch& inputs) {
  StepOutput output;
  parts_.backend.Forward(
      [&] { output = parts_.task.TrainStep(inputs, *this); });
  if (!output.weight) output.weight = static_cast<double>(inputs.size());
  return output;
}

void StepRunner::RunBackward(const StepOutput& output) {
  if (share_) return;  // the task has called Backward
  RunWrapped(
      [&](StepWrapper& wrapper, StepWrapper::Next next) {
        wrapper.WrapBackward(output, *this, next);
      },
      [&] { parts_.task.BackwardStep(output, *this); });
}

StepOutput StepRunner::RunPasses(const AnyBatch& batch) {
  if (parts_.captured != nullptr) {
    if (auto output = ReplayPasses(batch)) return std::move(*output);
  }
  StepOutput output = RunForward(batch);
  if (parts_.captured != nullptr) parts_.captured->CheckWeight(*output.weight);
  parts_.callbacks.Fire(LossEnd{parts_.clock, batch, output});
  RunBackward(output);
  return output;
}

std::optional<StepOutput> StepRunner::ReplayPasses(const AnyBatch& batch) {
  const auto record = [&](const AnyBatch& inputs) {
    recording_ = true;
    recorded_outputs_.clear();
    const auto stop = c10::make_scope_exit([&] {
      recording_ = false;
      share_.reset();
    });
    batch_ = &inputs;
    StepOutput output = RunForward(inputs);
    RunBackward(output);
    return output;
  };
  const auto output = parts_.captured->RunPasses(batch, record);
  batch_ = &batch;
  if (!output) return std::nullopt;
  if (parts_.callbacks.Hears<ForwardEnd>()) {
    for (const at::Tensor& outputs : recorded_outputs_) {
      parts_.callbacks.Fire(ForwardEnd{parts_.clock, batch, outputs.clone()});
    }
  }
  parts_.callbacks.Fire(LossEnd{parts_.clock, batch, *output});
  // What Backward does on the host.
  reference_ = parts_.backend.ReferenceWeight(*output->weight);
  share_ = window_.Add(*output->weight, reference_);
  CheckFinite(output->loss);
  parts_.backend.BackwardWithoutBatch(
      {.sync = is_boundary_, .weight = bad_loss_ ? kNan : window_.total()});
  return output;
}

State StepRunner::SaveState() const {
  State state = window_.SaveState();
  state.Set("reference", reference_);
  state.Set("in_window", static_cast<int64_t>(in_window()));
  state.Set("dropped_in_a_row", dropped_in_a_row_);
  state.Set("bad_batch", bad_loss_ ? bad_loss_->batch : 0);
  return state;
}

void StepRunner::LoadState(const State& state) {
  state.CheckVersion(1);
  window_.LoadState(state);
  reference_ = state.Get<double>("reference");
  is_boundary_ = state.Get<int64_t>("in_window") == 0;
  bad_loss_.reset();
  dropped_in_a_row_ = 0;
  if (!state.Has("dropped_in_a_row")) return;  // saved by an earlier release
  dropped_in_a_row_ = state.Get<int64_t>("dropped_in_a_row");
  const auto bad_batch = state.Get<int64_t>("bad_batch");
  if (bad_batch > 0) bad_loss_ = {.batch = bad_batch, .value = kNan};
}

void StepRunner::ForwardDone(const at::Tensor& outputs) {
  if (recording_) {
    recorded_outputs_.push_back(outputs.detach());
    return;
  }
  parts_.callbacks.Fire(ForwardEnd{parts_.clock, *batch_, outputs});
}

void StepRunner::PostNote() {
  if (note_posted_ || !is_boundary_ || !parts_.note ||
      parts_.backend.num_processes() == 1) {
    return;
  }
  parts_.backend.collectives().PostNote(parts_.note());
  note_posted_ = true;
}

void StepRunner::CheckFinite(const at::Tensor& loss) {
  const double value = loss.is_cpu() ? ScalarValue(loss) : 0;
  if (std::isfinite(value) && !parts_.callbacks.control().discard_requested()) {
    return;
  }
  batch_dropped_ = true;
  if (!bad_loss_) {
    bad_loss_ = {.batch = parts_.clock.epoch_batches() + 1, .value = value};
  }
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
  if (recording_) {
    // The only batch of its window. ReplayPasses counts its weight.
    const auto size = static_cast<double>(batch_->size());
    parts_.captured->CheckWeight(weight.value_or(size));
    share_ = 1;
    parts_.backend.Backward(loss, {});
    return;
  }
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
    PostNote();
    if (masked_) {
      parts_.backend.BackwardWithoutBatch(
          {.sync = is_boundary_, .weight = bad_loss_ ? kNan : window_.total()});
    }
  }
  // A mean over nothing is NaN, and so would be its gradients.
  if (masked_) return;
  CheckFinite(loss);
  // The gradients will be dropped. Only other processes may wait for them, or
  // for the parameters that this pass gathers with them.
  const bool others_wait = parts_.backend.num_processes() > 1 &&
                           (is_boundary_ || parts_.backend.shards_parameters());
  if (bad_loss_ && !others_wait) return;
  parts_.backend.Backward(loss, {.share = *share_,
                                 .sync = is_boundary_,
                                 .weight = bad_loss_ ? kNan : window_.total()});
}

bool StepRunner::Update(Optimizer& optimizer, const Clip& clip) {
  TORCH_CHECK_VALUE(
      std::find(parts_.optimizers.begin(), parts_.optimizers.end(),
                &optimizer) != parts_.optimizers.end(),
      "Update: the optimizer was not added, so that no checkpoint would have "
      "its state; write AddOptimizer(\"name\", optimizer) in the task's "
      "constructor");
  TORCH_CHECK_VALUE(!recording_,
                    "Update: a step that is captured cannot update in its "
                    "TrainStep; return the loss, or train without "
                    "capture_after_steps");
  update_called_ = true;
  if (!is_boundary_) return false;
  // A process whose loss is not finite weighs NaN, and so does the mean.
  const double weight = bad_loss_ && parts_.backend.num_processes() == 1
                            ? kNan
                            : parts_.backend.FinishGradients(optimizer);
  // The device has had this window's passes since.
  if (std::exchange(outcomes_due_, false)) ReadOutcomes();
  bool updated = false;
  if (std::isnan(weight)) {
    update_dropped_ = true;
  } else if (weight > 0) {
    // A window that weighs nothing on all ranks has no gradient to update with.
    const double divisor = window_.divisor(weight);
    parts_.callbacks.Fire(GradientsReady{parts_.clock, divisor});
    const UpdateOptions options{.divisor = divisor, .clip = clip};
    updated = !parts_.callbacks.control().discard_requested() &&
              (parts_.captured != nullptr
                   ? parts_.captured->Update(optimizer, options)
                   : parts_.backend.Update(optimizer, options));
  }
  if (updated && parts_.backend.outcome_is_open(optimizer)) {
    open_.push_back(&optimizer);
  } else {
    FinishUpdate(optimizer, {parts_.clock, updated}, updated_);
  }
  RunWrapped(
      [&](StepWrapper& wrapper, StepWrapper::Next next) {
        wrapper.WrapZeroGrad(optimizer, next);
      },
      [&] { parts_.task.ZeroGradStep(optimizer); });
  return updated;
}

void StepRunner::FinishUpdate(Optimizer& optimizer, UpdateEnd end,
                              bool& counted) {
  if (end.updated) {
    // Several optimizers updated in one step are one update of the run.
    if (!counted) parts_.clock.CountUpdate();
    counted = true;
    RunWrapped(
        [&](StepWrapper& wrapper, StepWrapper::Next next) {
          wrapper.WrapScheduleStep(optimizer, *this, next);
        },
        [&] { parts_.task.ScheduleStep(optimizer, *this); });
  }
  parts_.callbacks.Fire(end);
}

void StepRunner::ReadOutcomes() {
  bool counted = false;
  for (Optimizer* optimizer : std::exchange(open_, {})) {
    const bool updated = parts_.backend.ReadOutcome(*optimizer);
    FinishUpdate(*optimizer, {parts_.clock, updated, /*late=*/true}, counted);
  }
}

void StepRunner::StepSchedules(Optimizer& optimizer, StepOn on) {
  if (schedules_ != nullptr) schedules_->Step(on, &optimizer);
}

}  // namespace trainyard

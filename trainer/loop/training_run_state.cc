// How a TrainingRun is saved and resumed.
#include <c10/util/Exception.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/error_message.h"
#include "trainer/loop/format1.h"
#include "trainer/loop/held_tensors.h"
#include "trainer/loop/training_run.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {

// In the order of loading.
void TrainingRun::RegisterState() {
  using IfMissing = RunState::IfMissing;
  Task& task = parts_.task;
  Backend& backend = parts_.backend;
  const auto held = [&task, &backend] {
    return HeldOf(task.NamedTensors(), backend);
  };
  state_.AddTensors(
      {"model", held, [held, &backend](const std::vector<NamedTensor>& saved) {
         LoadHeld(saved, held());
         backend.ParametersLoaded();
       }});
  // Before the optimizers: a callback may give one more parameters to train.
  for (const auto& [name, callback] : parts_.callbacks.StatefulCallbacks()) {
    state_.Add("callback " + name, *callback, IfMissing::kWarn);
  }
  for (const NamedOptimizer& item : parts_.optimizers) {
    Optimizer& optimizer = *item.optimizer;
    state_.AddTensors({item.name, [&optimizer] { return HeldOf(optimizer); },
                       [&optimizer](const std::vector<NamedTensor>& saved) {
                         optimizer.LoadTensors(saved);
                       }});
    state_.Add("fields " + item.name, optimizer);
  }
  state_.Add("window", steps_);
  state_.AddMoving("clock", clock_);
  state_.AddMoving("milestone evaluation", evaluation_);
  state_.AddMoving("milestone checkpoint", checkpoint_);
  state_.AddMoving("milestone report", report_);
  state_.AddMoving("loader", reader_);
  state_.Add("schedules", schedules_);
  // Another backend remembers other things, and keeps its initial state.
  state_.Add("backend " + parts_.backend.name(), parts_.backend,
             IfMissing::kKeep);
  state_.AddMeans("epoch_means", epoch_means_);
  state_.AddMeans("report_means", report_means_);
  state_.AddWindow("gradients", gradients_);
  if (Stateful* history = parts_.history.state()) {
    state_.Add("history", *history);
  }
  // Last: loading the others may draw random numbers.
  state_.AddMoving("rng", rng_);
}

void TrainingRun::SaveCheckpoint(bool finished) {
  if (!checkpoints_) return;
  checkpoint_.Done(clock_);
  Checkpoint checkpoint{.step = clock_.updates(),
                        .epoch = clock_.epoch(),
                        .samples = clock_.samples(),
                        .finished = finished};
  // Metrics of earlier weights would make these the best by mistake.
  if (evaluation_.DoneAt(clock_)) checkpoint.metrics = evaluator_.latest();
  for (const auto& [name, value] : config_.Fields()) {
    checkpoint.config[name] = value;
  }
  state_.Collect(steps_.in_window(), checkpoint);
  const std::string path = checkpoints_->Save(checkpoint);
  parts_.callbacks.Fire(CheckpointSaved{clock_, path});
  requested_.reset();
}

void TrainingRun::RestoreLatest() {
  if (!checkpoints_) return;
  std::optional<Restored> restored =
      checkpoints_->Find(options_.resume, options_.resume_from);
  if (!restored) return;
  try {
    LoadCheckpoint(restored->checkpoint);
  } catch (const std::exception& e) {
    TORCH_CHECK_VALUE(false, "Train: cannot resume from ", restored->path, ": ",
                      ErrorMessage(e));
  }
  resumed_ = true;
  parts_.callbacks.Fire(CheckpointLoaded{clock_, restored->path});
}

std::set<std::string> TrainingRun::FreshParts() const {
  if (!options_.resume_from.fresh_optimizers) return {};
  std::set<std::string> parts = {"schedules"};
  for (const NamedOptimizer& item : parts_.optimizers) {
    parts.insert(item.name);
    parts.insert("fields " + item.name);
  }
  return parts;
}

bool TrainingRun::GoesOnAfterEnd(const Checkpoint& checkpoint) const {
  if (!checkpoint.finished || checkpoint.step >= config_.total_updates) {
    return false;
  }
  // A run of the same length has nothing left, also if updates were skipped.
  for (const auto& [name, value] : config_.Fields()) {
    if (name != "num_epochs" && name != "total_updates") continue;
    const auto before = checkpoint.config.find(name);
    if (before != checkpoint.config.end() && before->second != value) {
      return true;
    }
  }
  return false;
}

void TrainingRun::LoadCheckpoint(Checkpoint& checkpoint) {
  UpgradeFormat1(checkpoint);
  state_.Load(checkpoint, FreshParts(), GoesOnAfterEnd(checkpoint));
  const int64_t updates_left = config_.total_updates - clock_.updates();
  if (options_.resume_from.fresh_optimizers && updates_left > 0) {
    schedules_.Restore();
    schedules_ = ScheduleSet();
    AddSchedules(updates_left);
  }
  seconds_before_ = clock_.seconds();
  samples_before_ = clock_.samples();
  evaluator_.set_latest(checkpoint.metrics);
  if (clock_.epoch_batches() > 0 && clock_.resized()) {
    // Batches are larger or smaller than before: count them by whole windows.
    const int64_t accum = clock_.grad_accum_steps();
    const std::optional<int64_t> all = reader_.batches_per_epoch();
    const int64_t batches =
        all ? *all - *reader_.batches_left()
            : reader_.position() * accum / config_.total_batch_size;
    clock_.SetEpochBatches(batches - batches % accum);
  }
  for (const std::string& change : Differences(config_, checkpoint.config)) {
    LOG(WARNING) << "resumed with another configuration: " << change;
  }
}

}  // namespace trainyard

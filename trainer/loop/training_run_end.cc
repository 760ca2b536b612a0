// How a TrainingRun ends.
#include <string>
#include <utility>

#include "backends/gather_text.h"
#include "trainer/events.h"
#include "trainer/loop/training_run.h"

namespace trainyard {

bool TrainingRun::Finished() const {
  if (config_.num_epochs && clock_.epoch() >= *config_.num_epochs) return true;
  // The number of epochs is not known in advance; the last one was counted.
  return !config_.batches_per_epoch && clock_.epoch_batches() == 0 &&
         clock_.updates() >= config_.total_updates;
}

bool TrainingRun::EpochIsCut() const {
  if (epoch_limit_ && clock_.epoch_batches() >= *epoch_limit_) return false;
  if (const auto left = reader_.batches_left()) return *left > 0;
  return clock_.updates() >= config_.total_updates;
}

bool TrainingRun::ShouldEnd() {
  return parts_.backend.collectives().Any(
      parts_.control.stop_requested() ||
      (cancellation_ && cancellation_->requested()));
}

void TrainingRun::FinishRun(bool finished, bool save) {
  if (save && !checkpoint_.DoneAt(clock_)) SaveCheckpoint(finished);
  if (checkpoints_) checkpoints_->Finish();
  if (!report_.DoneAt(clock_)) ReportMeans();
}

void TrainingRun::EndEarly() {
  const bool discard =
      parts_.backend.collectives().Any(parts_.control.discard_requested());
  FinishRun(/*finished=*/false, /*save=*/!discard);
  // After the checkpoint: a resumed run completes the epoch and records it.
  if (clock_.epoch_batches() > 0) RecordEpochMeans();
  const auto [cancelled, reason] = AgreeOnReason();
  message_ = reason;
  if (cancelled) {
    ending_ = RunEnding::kCancelled;
    parts_.callbacks.Fire(RunCancelled{clock_, message_});
  } else {
    ending_ = RunEnding::kStopped;
    parts_.callbacks.Fire(RunStopped{clock_, message_});
  }
}

std::pair<bool, std::string> TrainingRun::AgreeOnReason() {
  constexpr char kCancelled = 'c', kStopped = 's';
  std::string mine;
  if (cancellation_ && cancellation_->requested()) {
    mine = kCancelled + std::string(cancellation_->reason());
  } else if (parts_.control.stop_requested()) {
    mine = kStopped + parts_.control.reason();
  }
  std::string first;
  for (const std::string& reason :
       GatherText(parts_.backend.collectives(), mine)) {
    if (reason.empty()) continue;
    // A signal goes before what a callback requested.
    if (first.empty() || (first[0] == kStopped && reason[0] == kCancelled)) {
      first = reason;
    }
  }
  return {first[0] == kCancelled, first.substr(1)};
}

std::exception_ptr TrainingRun::FireRunEnd() {
  schedules_.Restore();
  return parts_.callbacks.FireToAll(
      RunEnd{clock_, parts_.history, ending_, message_});
}

}  // namespace trainyard

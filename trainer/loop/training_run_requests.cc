// What the ranks of a TrainingRun tell each other about requests and time.
#include <optional>
#include <utility>
#include <vector>

#include "trainer/loop/training_run.h"

namespace trainyard {

void TrainingRun::ReadNotes() {
  requested_ = false;
  double seconds = clock_.previous().seconds;
  if (steps_.note_posted()) {
    const std::vector<RankNote> notes =
        parts_.backend.collectives().ReadNotes();
    for (const RankNote& note : notes) {
      if (note.flags != 0) requested_ = true;
    }
    seconds = notes[0].seconds;
  }
  // Within a window the ranks do not know each other's time: for them it stands
  // still.
  if (needs_seconds_) clock_.SetSeconds(seconds);
}

bool TrainingRun::RequestedHere() const {
  return parts_.control.requested() ||
         (cancellation_ &&
          (cancellation_->requested() || cancellation_->save_requested()));
}

bool TrainingRun::AnyRequested() {
  const std::optional<bool> told = std::exchange(requested_, std::nullopt);
  return told ? *told : parts_.backend.collectives().Any(RequestedHere());
}

void TrainingRun::RunRequestedActions() {
  Control& control = parts_.control;
  Collectives& collectives = parts_.backend.collectives();
  const bool evaluate = collectives.Any(control.TakeEvaluationRequest());
  if (evaluate && !evaluator_.empty() && !evaluation_.DoneAt(clock_)) {
    Evaluate();
    parts_.task.SetTraining(true);
  }
  // The evaluation may have requested one.
  const bool asked = cancellation_ && cancellation_->TakeSaveRequest();
  const bool save = collectives.Any(control.TakeCheckpointRequest() || asked);
  if (save && !checkpoint_.DoneAt(clock_)) SaveCheckpoint(/*finished=*/false);
}

}  // namespace trainyard

#include "callbacks/testing/event_recorder.h"

#include "tracking/run_history.h"

namespace trainyard {

void EventRecorder::Add(const std::string& event, const RunClock& clock) {
  const Progress& progress = clock.progress();
  log_.push_back(event + ": " + std::to_string(progress.batches) +
                 " batches, " + std::to_string(progress.updates) +
                 " updates, " + std::to_string(progress.epochs) +
                 " epochs; epoch " + std::to_string(clock.epoch()) +
                 ", batch " + std::to_string(clock.epoch_batches()));
}

void EventRecorder::OnInitEnd(const InitEnd&, Control&) {
  log_.push_back("InitEnd");
}
void EventRecorder::OnCheckpointLoaded(const CheckpointLoaded& e, Control&) {
  Add("CheckpointLoaded", e.clock);
}
void EventRecorder::OnRunStart(const RunStart& e, Control&) {
  Add(e.resumed ? "RunStart, resumed" : "RunStart", e.clock);
}
void EventRecorder::OnEpochStart(const EpochStart& e, Control&) {
  Add("EpochStart of " + std::to_string(e.num_batches.value_or(-1)), e.clock);
}
void EventRecorder::OnStepStart(const StepStart& e, Control&) {
  Add("StepStart", e.clock);
}
void EventRecorder::OnForwardEnd(const ForwardEnd& e, Control&) {
  Add("ForwardEnd", e.clock);
}
void EventRecorder::OnLossEnd(const LossEnd& e, Control&) {
  Add("LossEnd", e.clock);
}
void EventRecorder::OnBackwardEnd(const BackwardEnd& e, Control&) {
  Add("BackwardEnd", e.clock);
}
void EventRecorder::OnGradientsReady(const GradientsReady& e, Control&) {
  Add("GradientsReady", e.clock);
}
void EventRecorder::OnUpdateEnd(const UpdateEnd& e, Control&) {
  Add("UpdateEnd", e.clock);
}
void EventRecorder::OnStepEnd(const StepEnd& e, Control&) {
  Add("StepEnd", e.clock);
}
void EventRecorder::OnTrainEpochEnd(const TrainEpochEnd& e, Control&) {
  Add("TrainEpochEnd", e.clock);
}
void EventRecorder::OnEvalStart(const EvalStart& e, Control&) {
  Add("EvalStart " + e.name + " of " +
          std::to_string(e.num_batches.value_or(-1)),
      e.clock);
}
void EventRecorder::OnEvalStepStart(const EvalStepStart& e, Control&) {
  Add("EvalStepStart " + std::to_string(e.batch_idx), e.clock);
}
void EventRecorder::OnEvalStepEnd(const EvalStepEnd& e, Control&) {
  Add("EvalStepEnd " + std::to_string(e.batch_idx), e.clock);
}
void EventRecorder::OnEvalEnd(const EvalEnd& e, Control&) {
  Add("EvalEnd " + e.name, e.clock);
}
void EventRecorder::OnEpochEnd(const EpochEnd& e, Control&) {
  Add("EpochEnd in history epoch " + std::to_string(e.history.current_epoch()),
      e.clock);
}
void EventRecorder::OnMetricsReport(const MetricsReport& e, Control&) {
  Add("MetricsReport", e.clock);
}
void EventRecorder::OnRunStopped(const RunStopped& e, Control&) {
  Add("RunStopped, " + e.reason, e.clock);
}
void EventRecorder::OnRunCancelled(const RunCancelled& e, Control&) {
  Add("RunCancelled, " + e.reason, e.clock);
}
void EventRecorder::OnRunEnd(const RunEnd& e, Control&) {
  Add("RunEnd " + std::to_string(static_cast<int>(e.ending)) + ", " + e.message,
      e.clock);
}

}  // namespace trainyard

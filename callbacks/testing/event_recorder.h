// EventRecorder writes down every event of a run with the counts of its clock,
// for tests that compare the order of events.
//
//   EventRecorder& of_fake = fake.Add(EventRecorder());
//   …
//   fake.Play();
//   …
//   EXPECT_EQ(of_fake.log(), of_trainer.log());
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_TESTING_EVENT_RECORDER_H_
#define TRAINYARD_CALLBACKS_TESTING_EVENT_RECORDER_H_

#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"

namespace trainyard {

class EventRecorder final : public Callback {
 public:
  const std::vector<std::string>& log() const { return log_; }

  void OnInitEnd(const InitEnd&, Control&) override;
  void OnCheckpointLoaded(const CheckpointLoaded& e, Control&) override;
  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnStepStart(const StepStart& e, Control&) override;
  void OnForwardEnd(const ForwardEnd& e, Control&) override;
  void OnLossEnd(const LossEnd& e, Control&) override;
  void OnBackwardEnd(const BackwardEnd& e, Control&) override;
  void OnGradientsReady(const GradientsReady& e, Control&) override;
  void OnUpdateEnd(const UpdateEnd& e, Control&) override;
  void OnStepEnd(const StepEnd& e, Control&) override;
  void OnTrainEpochEnd(const TrainEpochEnd& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalStepStart(const EvalStepStart& e, Control&) override;
  void OnEvalStepEnd(const EvalStepEnd& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;
  void OnMetricsReport(const MetricsReport& e, Control&) override;
  void OnRunStopped(const RunStopped& e, Control&) override;
  void OnRunCancelled(const RunCancelled& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  void Add(const std::string& event, const RunClock& clock);

  std::vector<std::string> log_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_TESTING_EVENT_RECORDER_H_

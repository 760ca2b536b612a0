// The order of a run's events, which is the loop's specification: one literal
// for each way in which a run can end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Writes down every event by its first letters.
class Recorder final : public Callback {
 public:
  void OnRunStart(const RunStart&, Control&) override {
    log.push_back("RunStart");
  }
  void OnEpochStart(const EpochStart&, Control&) override {
    log.push_back("EpochStart");
  }
  void OnStepStart(const StepStart&, Control&) override {
    log.push_back("StepStart");
  }
  void OnForwardEnd(const ForwardEnd&, Control&) override {
    log.push_back("ForwardEnd");
  }
  void OnLossEnd(const LossEnd&, Control&) override {
    log.push_back("LossEnd");
  }
  void OnBackwardEnd(const BackwardEnd&, Control&) override {
    log.push_back("BackwardEnd");
  }
  void OnGradientsReady(const GradientsReady&, Control&) override {
    log.push_back("GradientsReady");
  }
  void OnUpdateEnd(const UpdateEnd&, Control&) override {
    log.push_back("UpdateEnd");
  }
  void OnStepEnd(const StepEnd& e, Control& control) override {
    log.push_back("StepEnd");
    if (e.clock.samples() >= stop_at) control.RequestStop("enough samples");
    if (e.clock.samples() >= cancel_at) raise(SIGINT);
    if (e.clock.samples() >= throw_at) throw std::runtime_error("out of luck");
  }
  void OnTrainEpochEnd(const TrainEpochEnd&, Control&) override {
    log.push_back("TrainEpochEnd");
  }
  void OnEvalStart(const EvalStart&, Control&) override {
    log.push_back("EvalStart");
  }
  void OnEvalStepStart(const EvalStepStart&, Control&) override {
    log.push_back("EvalStepStart");
  }
  void OnEvalStepEnd(const EvalStepEnd&, Control&) override {
    log.push_back("EvalStepEnd");
  }
  void OnEvalEnd(const EvalEnd&, Control&) override {
    log.push_back("EvalEnd");
  }
  void OnEpochEnd(const EpochEnd&, Control&) override {
    log.push_back("EpochEnd");
  }
  void OnInitEnd(const InitEnd&, Control&) override {
    log.push_back("InitEnd");
  }
  void OnCheckpointSaved(const CheckpointSaved&, Control&) override {
    log.push_back("CheckpointSaved");
  }
  void OnCheckpointLoaded(const CheckpointLoaded&, Control&) override {
    log.push_back("CheckpointLoaded");
  }
  void OnMetricsReport(const MetricsReport&, Control&) override {
    log.push_back("MetricsReport");
  }
  void OnRunCancelled(const RunCancelled& e, Control&) override {
    log.push_back("RunCancelled: " + e.reason);
  }
  void OnRunStopped(const RunStopped& e, Control&) override {
    log.push_back("RunStopped: " + e.reason);
  }
  void OnRunEnd(const RunEnd& e, Control&) override {
    log.push_back("RunEnd: " + e.message);
  }

  std::vector<std::string> log;
  int64_t stop_at = 1 << 20;
  int64_t throw_at = 1 << 20;
  int64_t cancel_at = 1 << 20;
};

TEST(TrainerEventsTest, EventsOfARunWithAccumulationAndEvaluation) {
  LineRig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  rig.trainer().Train({.data = LinePoints(10),
                       .eval_data = LinePoints(4),
                       .length = Epochs(1),
                       .per_device_batch_size = 4,
                       .grad_accum_steps = 2});
  EXPECT_THAT(
      recorder.log,
      ElementsAre("InitEnd", "RunStart", "EpochStart",  //
                  "StepStart", "ForwardEnd", "LossEnd", "BackwardEnd",
                  "StepEnd",  //
                  "StepStart", "ForwardEnd", "LossEnd", "BackwardEnd",
                  "GradientsReady", "UpdateEnd", "StepEnd",  //
                  "StepStart", "ForwardEnd", "LossEnd", "BackwardEnd",
                  "GradientsReady", "UpdateEnd", "StepEnd",  //
                  "TrainEpochEnd", "EvalStart", "EvalStepStart", "EvalStepEnd",
                  "EvalEnd", "EpochEnd", "MetricsReport", "RunEnd: "));
}

TEST(TrainerEventsTest, EventsOfAStoppedRun) {
  LineRig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  recorder.stop_at = 4;
  const RunResult result = rig.trainer().Train({.data = LinePoints(10),
                                                .eval_data = LinePoints(4),
                                                .length = Epochs(3),
                                                .per_device_batch_size = 4});
  EXPECT_THAT(
      recorder.log,
      ElementsAre("InitEnd", "RunStart", "EpochStart", "StepStart",
                  "ForwardEnd", "LossEnd", "BackwardEnd", "GradientsReady",
                  "UpdateEnd", "StepEnd", "MetricsReport",
                  "RunStopped: enough samples", "RunEnd: enough samples"));
  EXPECT_EQ(result.ending, RunEnding::kStopped);
  EXPECT_EQ(result.message, "enough samples");
}

TEST(TrainerEventsTest, EventsOfACancelledRun) {
  LineRig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  recorder.cancel_at = 4;
  const RunResult result = rig.trainer().Train({.data = LinePoints(10),
                                                .eval_data = LinePoints(4),
                                                .length = Epochs(3),
                                                .per_device_batch_size = 4});
  EXPECT_THAT(
      recorder.log,
      ElementsAre("InitEnd", "RunStart", "EpochStart", "StepStart",
                  "ForwardEnd", "LossEnd", "BackwardEnd", "GradientsReady",
                  "UpdateEnd", "StepEnd", "MetricsReport",
                  "RunCancelled: SIGINT", "RunEnd: SIGINT"));
  EXPECT_EQ(result.ending, RunEnding::kCancelled);
  EXPECT_EQ(result.message, "SIGINT");
}

TEST(TrainerEventsTest, EventsOfAFailedRun) {
  LineRig rig;
  Recorder& recorder = rig.trainer().Add(Recorder());
  recorder.throw_at = 4;
  EXPECT_THROW(rig.trainer().Train({.data = LinePoints(10),
                                    .length = Epochs(3),
                                    .per_device_batch_size = 4}),
               CallbackError);
  EXPECT_THAT(recorder.log,
              ElementsAre("InitEnd", "RunStart", "EpochStart", "StepStart",
                          "ForwardEnd", "LossEnd", "BackwardEnd",
                          "GradientsReady", "UpdateEnd", "StepEnd",
                          "RunEnd: Recorder threw in OnStepEnd: out of luck"));
}

// What falls on one batch: evaluation, checkpoint, report; none twice, and at
// the end only what is not current.
TEST(TrainerEventsTest, OrderOfWhatIsDue) {
  const std::string folder = ::testing::TempDir() + "/order";
  std::filesystem::remove_all(folder);
  const auto boundaries = [&](const Period& evaluate, const Period& save,
                              const Period& report) {
    LineRig rig;
    Recorder& recorder = rig.trainer().Add(Recorder());
    rig.trainer().Train({.data = LinePoints(5),
                         .eval_data = LinePoints(1),
                         .length = Epochs(1),
                         .per_device_batch_size = 1,
                         .evaluate = evaluate,
                         .report = report,
                         .checkpoint = {.directory = folder, .save = save},
                         .resume = Resume::kIfPresent});
    std::filesystem::remove_all(folder);
    std::vector<std::string> log;
    for (const std::string& event : recorder.log) {
      if (event == "EvalEnd" || event == "CheckpointSaved" ||
          event == "MetricsReport" || event == "StepEnd" ||
          event == "EpochEnd") {
        log.push_back(event == "StepEnd" ? "." : event);
      }
    }
    return log;
  };
  EXPECT_THAT(
      boundaries(Every(Batches(2)), Every(Batches(2)), Every(Batches(2))),
      ElementsAre(".", ".", "EvalEnd", "CheckpointSaved", "MetricsReport",  //
                  ".", ".", "EvalEnd", "CheckpointSaved", "MetricsReport",  //
                  ".", "EpochEnd", "EvalEnd", "CheckpointSaved",
                  "MetricsReport"));
  EXPECT_THAT(boundaries(Every(Epochs(1)), Every(Epochs(1)), Every(Batches(5))),
              ElementsAre(".", ".", ".", ".", ".", "EvalEnd", "EpochEnd",
                          "CheckpointSaved", "MetricsReport"));
  EXPECT_THAT(boundaries(Never(), At(Batches({1, 3})), Never()),
              ElementsAre(".", "CheckpointSaved", ".", ".", "CheckpointSaved",
                          ".", ".", "EpochEnd", "CheckpointSaved"));
}

TEST(TrainerEventsTest, AnEvaluationCountsItsBatches) {
  LineRig rig;
  std::vector<int64_t> starts, ends, trained;
  rig.trainer().Add(On<EvalStepStart>([&](const EvalStepStart& e, Control&) {
    starts.push_back(e.batch_idx);
    trained.push_back(e.clock.epoch_batches());
  }));
  rig.trainer().Add(On<EvalStepEnd>(
      [&](const EvalStepEnd& e, Control&) { ends.push_back(e.batch_idx); }));
  rig.trainer().Train({.data = LinePoints(8),
                       .eval_data = LinePoints(5),
                       .length = Epochs(1),
                       .per_device_batch_size = 2});
  EXPECT_THAT(starts, ElementsAre(0, 1, 2));
  EXPECT_THAT(ends, ElementsAre(0, 1, 2));
  EXPECT_THAT(trained, ElementsAre(4, 4, 4));  // those of training stay
}

TEST(TrainerEventsTest, AResumedRunBeginsWithWhatWasLoaded) {
  const std::string folder = ::testing::TempDir() + "/resumed";
  std::filesystem::remove_all(folder);
  TrainOptions options{.data = LinePoints(8),
                       .length = Epochs(1),
                       .per_device_batch_size = 4,
                       .checkpoint = {.directory = folder},
                       .resume = Resume::kIfPresent};
  LineRig first, second;
  first.trainer().Add(Recorder()).stop_at = 4;
  first.trainer().Train(options);
  Recorder& recorder = second.trainer().Add(Recorder());
  second.trainer().Train(options);
  EXPECT_THAT(
      recorder.log,
      ElementsAre("InitEnd", "CheckpointLoaded", "RunStart", "EpochStart",
                  "StepStart", "ForwardEnd", "LossEnd", "BackwardEnd",
                  "GradientsReady", "UpdateEnd", "StepEnd", "TrainEpochEnd",
                  "EpochEnd", "CheckpointSaved", "MetricsReport", "RunEnd: "));
}

}  // namespace
}  // namespace trainyard

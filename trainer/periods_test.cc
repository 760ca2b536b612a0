// In a real run: periods of a user's function, evaluation at the start, and
// schedules that step every N.
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "schedulers/linear.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/run_clock.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Batches 1, 2, 4, 8, …
Period Doubling() {
  return When([](const Progress& now) {
    return (now.batches & (now.batches - 1)) == 0;
  });
}

// Evaluations, checkpoints and reports of a run of two epochs with five batches
// each, as "<what>@<updates>". The end of a run has all that are not current.
std::vector<std::string> Log(TrainOptions options) {
  LineRig rig;
  std::vector<std::string> log;
  const auto add = [&](const std::string& what, const RunClock& clock) {
    log.push_back(what + "@" + std::to_string(clock.updates()));
  };
  rig.trainer().Add(On<EvalEnd>(
      [&](const EvalEnd& e, Control&) { add("evaluate", e.clock); }));
  rig.trainer().Add(On<CheckpointSaved>(
      [&](const CheckpointSaved& e, Control&) { add("save", e.clock); }));
  rig.trainer().Add(On<MetricsReport>(
      [&](const MetricsReport& e, Control&) { add("report", e.clock); }));
  options.data = LinePoints(20);
  options.eval_data = LinePoints(4);
  options.length = Epochs(2);
  options.per_device_batch_size = 4;
  rig.trainer().Train(options);
  return log;
}

TEST(WhenTest, DecidesWhenToEvaluateSaveAndReport) {
  EXPECT_THAT(Log({.evaluate = Doubling(), .report = Never()}),
              ElementsAre("evaluate@1", "evaluate@2", "evaluate@4",
                          "evaluate@8", "evaluate@10"));
  EXPECT_THAT(
      Log({.evaluate = Never(), .report = Doubling()}),
      ElementsAre("report@1", "report@2", "report@4", "report@8", "report@10"));
  EXPECT_THAT(Log({.evaluate = Never(),
                   .report = Never(),
                   .checkpoint = {.directory = MemoryFolder() + "/when",
                                  .save = Doubling()}}),
              ElementsAre("save@1", "save@2", "save@4", "save@8", "save@10"));
}

// True at the last batch of an epoch: it is asked before and after the epoch is
// counted, and still evaluates once.
TEST(WhenTest, IsDueOnceAtTheEndOfAnEpoch) {
  const Period fifth =
      When([](const Progress& now) { return now.batches % 5 == 0; });
  EXPECT_THAT(
      Log({.evaluate = fifth, .report = fifth}),
      ElementsAre("evaluate@5", "report@5", "evaluate@10", "report@10"));
  const Period epoch =
      When([](const Progress& now) { return now.epochs == 1; });
  EXPECT_THAT(Log({.evaluate = Never(), .report = epoch}),
              ElementsAre("report@5", "report@6", "report@7", "report@8",
                          "report@9", "report@10"));
}

TEST(EvaluateAtStartTest, EvaluatesTheInitialWeights) {
  EXPECT_THAT(Log({.evaluate = Every(Epochs(1)),
                   .evaluate_at_start = true,
                   .report = Never()}),
              ElementsAre("evaluate@0", "evaluate@5", "evaluate@10"));
  EXPECT_THAT(
      Log({.evaluate = Never(), .evaluate_at_start = true, .report = Never()}),
      ElementsAre("evaluate@0"));
}

TEST(EvaluateAtStartTest, ResumedRunDoesNotEvaluateAgain) {
  const auto log = [](bool stop) {
    LineRig rig;
    std::vector<int64_t> evaluated_at;
    rig.trainer().Add(On<EvalEnd>([&](const EvalEnd& e, Control&) {
      evaluated_at.push_back(e.clock.updates());
    }));
    rig.trainer().Add(On<StepEnd>([&](const StepEnd& e, Control& control) {
      if (stop && e.clock.updates() == 2) control.RequestStop("test");
    }));
    rig.trainer().Train({.data = LinePoints(8),
                         .eval_data = LinePoints(4),
                         .length = Epochs(1),
                         .per_device_batch_size = 2,
                         .evaluate_at_start = true,
                         .checkpoint = {.directory = MemoryFolder() + "/start"},
                         .resume = Resume::kIfPresent});
    return evaluated_at;
  };
  EXPECT_THAT(log(/*stop=*/true), ElementsAre(0));
  EXPECT_THAT(log(/*stop=*/false), ElementsAre(4));
}

TEST(EvaluateAtStartTest, LeavesTrainingUnchanged) {
  const auto train = [](bool at_start) {
    LineRig rig;
    rig.trainer().Train({.data = LinePoints(8),
                         .eval_data = LinePoints(4),
                         .length = Epochs(2),
                         .evaluate_at_start = at_start});
    return rig.weight();
  };
  EXPECT_TRUE(at::equal(train(true), train(false)));
}

// The learning rate of each update. Stops after `updates` of them, and resumes.
std::vector<double> Rates(const FieldSchedule& schedule, int64_t updates) {
  std::vector<double> rates;
  const auto train = [&](int64_t stop_at) {
    LineRig rig(/*lr=*/8);
    rig.trainer().Add(On<GradientsReady>([&](const GradientsReady&, Control&) {
      rates.push_back(rig.optimizer().Field(0, "lr"));
    }));
    rig.trainer().Add(On<StepEnd>([&](const StepEnd& e, Control& control) {
      if (e.clock.updates() == stop_at) control.RequestStop("test");
    }));
    rig.trainer().Train({.data = LinePoints(8),
                         .length = Epochs(2),
                         .per_device_batch_size = 2,
                         .schedules = {schedule},
                         .checkpoint = {.directory = MemoryFolder() + "/rates" +
                                                     std::to_string(updates)},
                         .resume = Resume::kIfPresent});
  };
  train(updates);
  if (updates > 0) train(0);
  return rates;
}

TEST(ScheduleFrequencyTest, StepsEveryNthUpdateAlsoAfterResume) {
  const FieldSchedule schedule{.schedule = Linear(), .frequency = 2};
  // Eight updates are four steps: 8, 6, 4 and 2, each twice.
  for (const int64_t stop_at : {0, 1, 4, 5}) {
    EXPECT_THAT(Rates(schedule, stop_at), ElementsAre(8, 8, 6, 6, 4, 4, 2, 2))
        << "stopped after " << stop_at;
  }
}

}  // namespace
}  // namespace trainyard

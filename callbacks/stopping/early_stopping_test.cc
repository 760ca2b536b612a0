#include "callbacks/stopping/early_stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "callbacks/testing/fake_run.h"
#include "trainer/testing/clock_at.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A run whose evaluations measure these.
FakeRunOptions Measuring(const std::string& metric,
                         std::vector<double> values) {
  const auto epochs = static_cast<int64_t>(values.size());
  return {.num_epochs = epochs, .eval = [=](int64_t epoch) {
            return Metrics{{metric, values[static_cast<size_t>(epoch - 1)]}};
          }};
}

struct Case {
  std::string name;
  EarlyStoppingOptions options;
  std::vector<double> values;
  // 0: it is not stopped.
  int64_t stops_after_epoch;
};

class EarlyStoppingTest : public ::testing::TestWithParam<Case> {};

TEST_P(EarlyStoppingTest, StopsWhenPatienceIsOut) {
  FakeRun run(Measuring("eval_loss", GetParam().values));
  run.Add(EarlyStopping(GetParam().options));
  const bool stops = GetParam().stops_after_epoch > 0;
  EXPECT_EQ(run.Play(), stops ? RunEnding::kStopped : RunEnding::kFinished)
      << run.message();
  if (stops) {
    EXPECT_EQ(run.clock().epoch(), GetParam().stops_after_epoch);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Trends, EarlyStoppingTest,
    ::testing::Values(
        Case{"Falling", {}, {5, 4, 3, 2, 1}, 0},
        Case{"OneWorse", {}, {5, 6, 3, 2, 1}, 2},
        Case{"OneWorseWithPatience", {.patience = 2}, {5, 6, 3, 2, 1}, 0},
        Case{"TwoWorseWithPatience", {.patience = 2}, {5, 6, 5.5, 2, 1}, 3},
        Case{"AnImprovementResetsPatience",
             {.patience = 2},
             {5, 6, 3, 4, 2, 1},
             0},
        Case{"EqualIsNoImprovement", {}, {5, 5, 1}, 2},
        Case{"ByTheThresholdIsNoImprovement",
             {.threshold = 0.5},
             {5, 4.5, 1},
             2},
        Case{"ByMoreThanTheThresholdIs", {.threshold = 0.5}, {5, 4.25, 1}, 0},
        Case{"SlowGainsAddUp",
             {.patience = 2, .threshold = 0.5},
             {5, 4.75, 4.25, 4},
             0},
        Case{"RisingIsBetter", {.better = Better::kHigher}, {1, 2, 3}, 0},
        Case{"FallingIsWorse", {.better = Better::kHigher}, {1, 2, 1.5, 3}, 3},
        Case{"NanIsNoImprovement", {.patience = 2}, {5, kNan, kNan, 1}, 3},
        Case{"NanFirst", {.patience = 2}, {kNan, 5, 4}, 0},
        Case{"OnlyNan", {.patience = 2}, {kNan, kNan, 4}, 2}),
    [](const auto& tested) { return tested.param.name; });

// Saved after each epoch of a run that stops after its fourth: the rest of it,
// in another object, stops there too, and from there on at once.
TEST(EarlyStoppingFactsTest, ResumedRunBehavesLikeAnUninterruptedOne) {
  const std::vector<double> values = {5, 4, 6, 7, 1, 1};
  for (int64_t saved_after = 0; saved_after <= 4; ++saved_after) {
    EarlyStopping before({.patience = 2}), after({.patience = 2});
    if (saved_after > 0) {
      FakeRun first(Measuring("eval_loss",
                              {values.begin(), values.begin() + saved_after}));
      first.Add(before);
      first.Play();
    }
    after.LoadState(before.SaveState());
    EXPECT_EQ(after.best(), before.best());
    Control control;
    const RunConfig config{.num_epochs = 6};
    RunClock clock = ClockAt({.epoch = saved_after});
    after.OnRunStart({config, clock, /*resumed=*/true, FakeBackend()}, control);
    InMemoryRunHistory history;
    for (int64_t i = 0; i < saved_after; ++i) {
      history.Update("eval_loss", values[static_cast<size_t>(i)]);
    }
    while (!control.stop_requested()) {
      const double value = values[static_cast<size_t>(clock.epoch())];
      history.Update("eval_loss", value);
      clock.CountBatch(1);
      clock.CountEpoch();
      after.OnEvalEnd({clock, "eval", {{"eval_loss", value}}}, control);
      after.OnEpochEnd({clock, history}, control);
      clock.EndEpoch();
    }
    EXPECT_EQ(clock.epoch(), 4) << "saved after " << saved_after;
    EXPECT_EQ(control.reason(),
              "eval_loss has not improved on 4.0000 of epoch 2 in 2 "
              "evaluations");
  }
}

TEST(EarlyStoppingFactsTest, HeaderExample) {
  FakeRun run(Measuring("eval_loss", {5, 3, 4, 4, 4, 4}));
  EarlyStopping& stopper = run.Add(EarlyStopping({.patience = 3}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.message(),
            "eval_loss has not improved on 3.0000 of epoch 2 in 3 evaluations");
  EXPECT_EQ(stopper.best(), 3);
  EXPECT_EQ(stopper.best_epoch(), 2);
}

TEST(EarlyStoppingFactsTest, WatchesMetricsOfTrainingToo) {
  FakeRun run({.loss = [](int64_t) { return 1.0; }});
  run.Add(EarlyStopping({.metric = "train_loss"}));
  run.Play();
  EXPECT_EQ(run.clock().epoch(), 2);
}

TEST(EarlyStoppingFactsTest, EvaluationOutsideOfRunsDoesNotCount) {
  FakeRun run(Measuring("evaluation_loss", {5, 4}));
  EarlyStopping& stopper =
      run.Add(EarlyStopping({.metric = "evaluation_loss"}));
  run.PlayEvaluation();
  EXPECT_FALSE(stopper.best().has_value());
  run.Play();
  run.PlayEvaluation();
  EXPECT_EQ(stopper.best(), 4);
}

TEST(EarlyStoppingFactsTest, SecondRunForgetsTheBestByDefault) {
  // The second run is as good as the first: no better.
  const auto second_ends_after = [](bool reset) {
    FakeRun run(Measuring("eval_loss", {5, 4, 3}));
    run.Add(EarlyStopping({.reset_on_run = reset}));
    EXPECT_EQ(run.Play(), RunEnding::kFinished);
    run.Play();
    return run.clock().epoch();
  };
  EXPECT_EQ(second_ends_after(true), 3);
  EXPECT_EQ(second_ends_after(false), 1);
}

TEST(EarlyStoppingFactsTest, MissingMetricIsAnErrorThatListsTheOthers) {
  FakeRun run(Measuring("eval_loss", {1}));
  run.Add(EarlyStopping({.metric = "val_loss"}));
  EXPECT_EQ(run.Play(), RunEnding::kError);
  EXPECT_THAT(run.message(),
              HasSubstr("EarlyStopping: metric \"val_loss\" was not recorded; "
                        "there are: eval_loss, train_loss"));
}

TEST(EarlyStoppingFactsTest, MetricMayFirstAppearInALaterEpoch) {
  FakeRunOptions options = Measuring("eval_loss", {9, 5, 9});
  options.eval_every_epochs = 2;
  FakeRun run(options);
  EarlyStopping& stopper = run.Add(EarlyStopping());
  EXPECT_EQ(run.Play(), RunEnding::kFinished) << run.message();
  EXPECT_EQ(stopper.best(), 5);
  EXPECT_EQ(stopper.best_epoch(), 2);
}

TEST(EarlyStoppingFactsTest, FinalEvaluationCountsForTheLastEpoch) {
  FakeRunOptions options = Measuring("eval_loss", {9, 5, 4});
  options.eval_every_epochs = 2;
  FakeRun run(options);
  EarlyStopping& stopper = run.Add(EarlyStopping());
  run.Play();
  EXPECT_EQ(stopper.best(), 4);
  EXPECT_EQ(stopper.best_epoch(), 3);
}

TEST(EarlyStoppingFactsTest, EvaluationWithinAnEpochCanStopTheRun) {
  FakeRunOptions options = Measuring("eval_loss", {5, 6});
  options.eval_within_epoch_at = 2;
  FakeRun run(options);
  run.Add(EarlyStopping({.patience = 2}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.clock().epoch(), 1);  // 5, 5, and 6 within the second epoch
  EXPECT_EQ(run.clock().epoch_batches(), 2);
}

// Epochs of 4 batches of 8 samples and 0.5 s; an evaluation at the end of each,
// of 0.5 s, that never improves on the first. With patience 1 the second look
// ends the run.
struct CheckCase {
  std::string name;
  Period check;
  int64_t epoch, batch_idx;
};

class EarlyStoppingCheckTest : public ::testing::TestWithParam<CheckCase> {};

TEST_P(EarlyStoppingCheckTest, LooksInAnyUnit) {
  FakeRun run({.num_epochs = 9});
  run.Add(EarlyStopping({.check = GetParam().check}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped) << run.message();
  EXPECT_THAT(run.message(), HasSubstr("in 1 check"));
  EXPECT_EQ(run.clock().epoch(), GetParam().epoch);
  EXPECT_EQ(run.clock().epoch_batches(), GetParam().batch_idx);
}

INSTANTIATE_TEST_SUITE_P(
    Units, EarlyStoppingCheckTest,
    ::testing::Values(
        // Due at 6, judged there by the value of epoch 1; at 12 by epoch 2's.
        CheckCase{"Batches", Every(Batches(6)), 2, 4},
        CheckCase{"Updates", At(Updates(std::vector<int64_t>{5, 9})), 2, 1},
        CheckCase{"Samples", Every(Samples(6 * 8)), 2, 4},
        CheckCase{"Epochs", Every(Epochs(2)), 4, 0},
        // Epochs end at 2.5 s, 5 s, 7.5 s.
        CheckCase{"Seconds", Every(Seconds(3)), 2, 2}),
    [](const auto& tested) { return tested.param.name; });

TEST(EarlyStoppingFactsTest, DueComparisonWaitsForTheNextValue) {
  FakeRun run(Measuring("eval_loss", {5, 5, 5}));
  run.Add(EarlyStopping({.check = At(Batches(std::vector<int64_t>{1, 5}))}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped) << run.message();
  EXPECT_EQ(run.clock().epoch(), 2);
}

TEST(EarlyStoppingFactsTest, UnjudgedValueSurvivesCheckpoint) {
  const EarlyStoppingOptions options{.check = At(Epochs({1, 3}))};
  EarlyStopping before(options), after(options);
  FakeRun first(Measuring("eval_loss", {5, 6}));
  first.Add(before);
  first.Play();
  after.LoadState(before.SaveState());
  Control control;
  RunClock clock = ClockAt({.epoch = 2});
  after.OnRunStart({{.num_epochs = 3}, clock, /*resumed=*/true, FakeBackend()},
                   control);
  InMemoryRunHistory history;
  history.Update("eval_loss", 5);
  history.Update("eval_loss", 6);
  EXPECT_FALSE(control.stop_requested());
  clock.StartEpoch();
  clock.CountBatch(1);
  clock.CountEpoch();
  after.OnEpochEnd({clock, history}, control);
  EXPECT_TRUE(control.stop_requested());
}

TEST(EarlyStoppingFactsTest, RunWithoutEvaluationsIsAnErrorAtItsEnd) {
  FakeRun run(
      {.eval_every_epochs = 100, .eval = [](int64_t) { return Metrics{}; }});
  run.Add(EarlyStopping());
  EXPECT_EQ(run.Play(), RunEnding::kError);
  EXPECT_THAT(run.message(), HasSubstr("there are: train_loss"));
}

TEST(EarlyStoppingFactsTest, RefusesBadOptionsByName) {
  const auto message = [](const EarlyStoppingOptions& options) -> std::string {
    try {
      EarlyStopping stopper(options);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({.metric = ""}),
              HasSubstr("EarlyStopping: metric is empty"));
  EXPECT_THAT(message({.patience = 0}), HasSubstr("patience is 0"));
  EXPECT_THAT(message({.threshold = -1}), HasSubstr("threshold is -1"));
  EXPECT_THAT(message({.threshold = kNan}), HasSubstr("threshold is nan"));
}

}  // namespace
}  // namespace trainyard

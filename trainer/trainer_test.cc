#include "trainer/trainer.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/cosine.h"
#include "trainer/testing/clock_at.h"
#include "trainer/testing/line_rig.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TrainerTest, LearnsALine) {
  LineRig rig;
  const RunResult result = rig.trainer().Train({.data = LinePoints(64),
                                                .eval_data = LinePoints(16),
                                                .length = Epochs(100),
                                                .per_device_batch_size = 16,
                                                .schedule = Cosine()});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  EXPECT_LT(rig.trainer().history().Latest("eval_loss"), 1e-4);
  EXPECT_EQ(rig.trainer().history().Values("train_loss").size(), 100);
  EXPECT_LT(rig.trainer().Evaluate(LinePoints(8)).at("evaluation_loss"), 1e-4);
}

TEST(TrainerTest, CountsBatchesUpdatesAndSamples) {
  LineRig rig;
  const RunResult result = rig.trainer().Train({.data = LinePoints(10),
                                                .length = Epochs(3),
                                                .per_device_batch_size = 4,
                                                .grad_accum_steps = 2});
  EXPECT_EQ(PositionOf(result.clock),
            (ClockPosition{.epoch = 3, .updates = 6, .samples = 30}));
  EXPECT_EQ(result.clock.batches(), 9);
  EXPECT_EQ(result.clock.grad_accum_steps(), 2);
}

TEST(TrainerTest, MaxUpdatesIsReachedExactlyInMidEpoch) {
  LineRig rig;
  std::vector<int64_t> announced;
  rig.trainer().Add(On<EpochStart>([&](const EpochStart& e, Control&) {
    announced.push_back(e.num_batches.value());
  }));
  const RunResult result = rig.trainer().Train({.data = LinePoints(10),
                                                .eval_data = LinePoints(4),
                                                .length = Updates(4),
                                                .per_device_batch_size = 4});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  EXPECT_EQ(result.clock.updates(), 4);
  EXPECT_EQ(result.clock.samples(), 14);  // an epoch of 10, and one batch
  EXPECT_THAT(announced, ElementsAre(3, 1));
  EXPECT_EQ(rig.trainer().history().Values("eval_loss").size(), 2);
}

// The evaluations of a run, as "<set>@<samples seen>".
std::vector<std::string> Evaluations(const TrainOptions& options) {
  LineRig rig;
  std::vector<std::string> log;
  rig.trainer().Add(On<EvalEnd>([&](const EvalEnd& e, Control&) {
    log.push_back(e.name + "@" + std::to_string(e.clock.samples()));
  }));
  rig.trainer().Train(options);
  return log;
}

TEST(TrainerTest, EvaluatesSeveralSetsInOrder) {
  EXPECT_THAT(Evaluations({.data = LinePoints(8),
                           .eval_data = LinePoints(4),
                           .eval_sets = {{"rare", LinePoints(3)},
                                         {"all", LinePoints(5)}},
                           .length = Epochs(1),
                           .per_device_batch_size = 4}),
              ElementsAre("eval@8", "rare@8", "all@8"));
}

TEST(TrainerTest, EvaluatesWhenDueAndOnceAtTheEnd) {
  const auto evaluations = [](const Period& evaluate) {
    return Evaluations({.data = LinePoints(10),
                        .eval_data = LinePoints(4),
                        .length = Epochs(2),
                        .per_device_batch_size = 4,
                        .evaluate = evaluate});  // batches 4, 4, 2
  };
  EXPECT_THAT(evaluations(Every(Epochs(1))), ElementsAre("eval@10", "eval@20"));
  EXPECT_THAT(evaluations(Every(Batches(2))),
              ElementsAre("eval@8", "eval@14", "eval@20"));
  EXPECT_THAT(evaluations(Every(Updates(4))),
              ElementsAre("eval@14", "eval@20"));
  EXPECT_THAT(evaluations(At(Samples({3, 10}))),
              ElementsAre("eval@4", "eval@10", "eval@20"));
  EXPECT_THAT(evaluations(Every(Epochs(2))), ElementsAre("eval@20"));
  EXPECT_THAT(evaluations(Never()), ElementsAre());
}

TEST(TrainerTest, AnEvaluationInMidEpochLeavesTrainingAsItWas) {
  const auto train = [](const Period& evaluate) {
    LineRig rig;
    rig.trainer().Train({.data = LinePoints(10),
                         .eval_data = LinePoints(4),
                         .length = Epochs(2),
                         .per_device_batch_size = 4,
                         .evaluate = evaluate});
    return rig.weight();
  };
  EXPECT_TRUE(at::equal(train(Every(Batches(1))), train(Never())));
}

TEST(TrainerTest, EpochsAndEvaluationsCanBeShortened) {
  LineRig rig;
  int eval_batches = 0;
  rig.trainer().Add(
      On<EvalStepEnd>([&](const EvalStepEnd&, Control&) { ++eval_batches; }));
  const RunResult result = rig.trainer().Train({.data = LinePoints(10),
                                                .eval_data = LinePoints(9),
                                                .length = Epochs(3),
                                                .per_device_batch_size = 2,
                                                .max_batches_per_epoch = 2,
                                                .max_eval_batches = 1});
  EXPECT_EQ(result.clock.samples(), 12);
  EXPECT_EQ(eval_batches, 3);
}

TEST(TrainerTest, TheEnvironmentCanShortenThemToo) {
  LineRig rig;
  int eval_batches = 0;
  rig.trainer().Add(
      On<EvalStepEnd>([&](const EvalStepEnd&, Control&) { ++eval_batches; }));
  setenv("TRAINYARD_LIMIT_BATCHES", "2", 1);
  const RunResult result = rig.trainer().Train({.data = LinePoints(10),
                                                .eval_data = LinePoints(9),
                                                .length = Epochs(3),
                                                .per_device_batch_size = 2});
  rig.trainer().Evaluate(LinePoints(9), 2);
  unsetenv("TRAINYARD_LIMIT_BATCHES");
  EXPECT_EQ(result.clock.samples(), 12);
  EXPECT_EQ(eval_batches, 8);
}

// The same 12 samples as one batch, as an accumulation window of equal batches,
// and of unequal ones (5 + 5 + 2): the update must be the same.
TEST(TrainerTest, AWindowsGradientDoesNotDependOnItsSplit) {
  const auto train = [](int64_t batch_size, int64_t accumulate) {
    LineRig rig;
    rig.trainer().Train({.data = LinePoints(12),
                         .length = Epochs(5),
                         .per_device_batch_size = batch_size,
                         .grad_accum_steps = accumulate,
                         .clip = ClipNorm(0.5)});
    return rig.weight();
  };
  const at::Tensor whole = train(12, 1);
  EXPECT_TRUE(at::allclose(train(4, 3), whole, 1e-6, 1e-7));
  EXPECT_TRUE(at::allclose(train(5, 3), whole, 1e-6, 1e-7));
  EXPECT_TRUE(at::allclose(train(1, 12), whole, 1e-6, 1e-7));
  EXPECT_FALSE(at::allclose(train(6, 1), whole, 1e-6,
                            1e-7));  // two updates per epoch are not one
}

TEST(TrainerTest, ABatchThatDoesNotFitIsSplit) {
  const auto train = [](std::optional<int64_t> limit) {
    LineRig rig;
    int64_t largest = 0;
    rig.trainer().Add(On<StepStart>([&](const StepStart& e, Control&) {
      largest = std::max(largest, e.batch.size());
    }));
    const RunResult result =
        rig.trainer().Train({.data = LinePoints(12),
                             .length = Epochs(5),
                             .per_device_batch_size = 12,
                             .max_micro_batch_size = limit});
    EXPECT_EQ(result.clock.updates(), 5);
    EXPECT_EQ(largest, limit == 5 ? 4 : 12);  // 5 does not divide 12
    return rig.weight();
  };
  EXPECT_TRUE(at::allclose(train(5), train(std::nullopt), 1e-6, 1e-7));
}

// Batches of 4, 4 and 2: the mean over records, not over batches.
TEST(TrainerTest, TheTrainLossIsTheMeanOverRecords) {
  LineRig rig(/*lr=*/1e-12);
  double sum = 0;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd& e, Control&) {
    sum += e.output.loss.item<double>() * static_cast<double>(e.batch.size());
  }));
  rig.trainer().Train({.data = LinePoints(10),
                       .length = Epochs(1),
                       .per_device_batch_size = 4,
                       .grad_accum_steps = 2});
  EXPECT_DOUBLE_EQ(rig.trainer().history().Latest("train_loss"), sum / 10);
}

TEST(TrainerTest, ReportsMeansSinceTheLastReport) {
  LineRig rig;
  std::vector<double> losses, reports;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd& e, Control&) {
    losses.push_back(e.output.loss.item<double>());
  }));
  rig.trainer().Add(On<MetricsReport>([&](const MetricsReport& e, Control&) {
    reports.push_back(e.metrics.at("train_loss"));
  }));
  rig.trainer().Train({.data = LinePoints(10),
                       .length = Epochs(1),
                       .per_device_batch_size = 2,
                       .report = Every(Batches(2))});
  ASSERT_EQ(losses.size(), 5);
  EXPECT_THAT(reports, ElementsAre((losses[0] + losses[1]) / 2,
                                   (losses[2] + losses[3]) / 2, losses[4]));
}

TEST(TrainerTest, AHistoryOfTheUsersOwn) {
  LineRig rig;
  InMemoryRunHistory history;
  rig.trainer().UseHistory(history);
  rig.trainer().Train({.data = LinePoints(10), .length = Epochs(2)});
  EXPECT_EQ(history.Values("train_loss").size(), 2);
  EXPECT_EQ(&rig.trainer().history(), &history);
}

TEST(TrainerTest, AHistoryMayBeContinued) {
  LineRig rig;
  rig.trainer().Train({.data = LinePoints(10), .length = Epochs(2)});
  rig.trainer().Train(
      {.data = LinePoints(10), .length = Epochs(1), .reset_history = false});
  EXPECT_EQ(rig.trainer().history().Values("train_loss").size(), 3);
  rig.trainer().Train({.data = LinePoints(10), .length = Epochs(1)});
  EXPECT_EQ(rig.trainer().history().Values("train_loss").size(), 1);
}

// A window of 5 + 2 samples, which its first batch made look like one of 10.
TEST(TrainerTest, CallbacksSeeTheDivisorAndRecordWhatTheyMeasure) {
  LineRig rig;
  std::vector<double> divisors;
  rig.trainer().Add(On<GradientsReady>([&](const GradientsReady& e, Control&) {
    divisors.push_back(e.divisor);
  }));
  rig.trainer().Add(On<EpochEnd>([&](const EpochEnd& e, Control&) {
    e.history.Update("divisor", divisors.front());
  }));
  rig.trainer().Train({.data = LinePoints(7),
                       .length = Epochs(1),
                       .per_device_batch_size = 5,
                       .grad_accum_steps = 2});
  EXPECT_THAT(divisors, ElementsAre(0.7));
  EXPECT_EQ(rig.trainer().history().Latest("divisor"), 0.7);
}

TEST(TrainerTest, SameSeedSameWeights) {
  const auto train = [](uint64_t seed) {
    LineRig rig;
    rig.trainer().Train({.data = LinePoints(10),
                         .length = Epochs(2),
                         .per_device_batch_size = 4,
                         .seed = seed});
    return rig.weight();
  };
  EXPECT_TRUE(at::equal(train(1), train(1)));
  EXPECT_FALSE(at::equal(train(1), train(2)));
}

TEST(TrainerTest, ScheduleSetsTheRateOfEachUpdateAndIsTakenBack) {
  LineRig rig(/*lr=*/0.5);
  std::vector<double> rates;
  rig.trainer().Add(On<GradientsReady>([&](const GradientsReady&, Control&) {
    rates.push_back(rig.optimizer().Field(0, "lr"));
  }));
  rig.trainer().Train({.data = LinePoints(8),
                       .length = Epochs(2),
                       .per_device_batch_size = 4,
                       .schedule = Cosine({.warmup = Updates(2)})});
  EXPECT_THAT(rates, ElementsAre(0, 0.25, 0.5, 0.25));
  EXPECT_EQ(rig.optimizer().Field(0, "lr"), 0.5);
}

TEST(TrainerTest, RefusesBadOptionsByName) {
  LineRig rig;
  const auto message = [&](const TrainOptions& options) -> std::string {
    try {
      rig.trainer().Train(options);
    } catch (const c10::ValueError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({}), HasSubstr("length is not set"));
  EXPECT_THAT(message({.length = Epochs(1)}),
              HasSubstr("there is no data to load: set TrainOptions::data"));
  EXPECT_THAT(
      message({.data = LinePoints(4),
               .eval_sets = {{"a", LinePoints(4)}, {"a", LinePoints(4)}},
               .length = Epochs(1)}),
      HasSubstr("an evaluation set is named \"a\""));
  EXPECT_THAT(message({.data = LinePoints(4)}), HasSubstr("length is not set"));
  EXPECT_THAT(message({.data = LinePoints(4), .length = Epochs(0)}),
              HasSubstr("length is 0 epochs; it must be more than 0"));
  EXPECT_THAT(
      message(
          {.data = LinePoints(4), .length = Epochs(1), .at_most = Updates(0)}),
      HasSubstr("at_most is 0 updates; it must be more than 0"));
  EXPECT_THAT(message({.data = LinePoints(4), .length = Seconds(60)}),
              HasSubstr("length is 60 seconds; it must be in epochs or "
                        "updates. Add MaxDuration"));
  EXPECT_THAT(message({.data = LinePoints(4),
                       .length = Epochs(1),
                       .per_device_batch_size = 0}),
              HasSubstr("per_device_batch_size is 0"));
  EXPECT_THAT(
      message(
          {.data = LinePoints(4), .length = Epochs(1), .grad_accum_steps = 0}),
      HasSubstr("grad_accum_steps is 0"));
  EXPECT_THAT(message({.data = LinePoints(4),
                       .length = Epochs(1),
                       .eval_per_device_batch_size = -1}),
              HasSubstr("eval_per_device_batch_size is -1"));
}

}  // namespace
}  // namespace trainyard

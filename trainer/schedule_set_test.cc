#include "trainer/schedule_set.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/cosine.h"
#include "schedulers/linear.h"
#include "schedulers/plateau.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Halves the value with everything it counts.
class Halving final : public Schedule {
 public:
  double ValueAt(int64_t count, double base) const override {
    for (; count > 0; --count) base /= 2;
    return base;
  }
};

ScheduleFactory Halve() {
  return [](const RunLength&) { return std::make_unique<Halving>(); };
}

class ScheduleSetTest : public ::testing::Test {
 protected:
  static AdamW MakeOptimizer() {
    return AdamW({at::ones({2}).requires_grad_()}, {.lr = 8});
  }

  AdamW optimizer_ = MakeOptimizer(), other_ = MakeOptimizer();
  double& lr_ = optimizer_.Field(0, "lr");
  double& other_lr_ = other_.Field(0, "lr");
  RunLength run_{.num_epochs = 3,
                 .updates_per_epoch = 10,
                 .total_updates = 30,
                 .batches_per_epoch = 20,
                 .eval_batches = 7};
  ScheduleSet set_;
};

TEST_F(ScheduleSetTest, HeaderExample) {
  AdamW& optimizer = optimizer_;
  const RunLength& run = run_;
  ScheduleSet schedules;
  schedules.Add({"lr", Cosine()}, optimizer, run);
  schedules.Add({.field = "weight_decay",
                 .schedule = Linear(),
                 .step_on = StepOn::kBatch,
                 .frequency = 10},
                optimizer, run);
  schedules.Step(StepOn::kUpdate, &optimizer);
  EXPECT_LT(lr_, 8);
}

TEST_F(ScheduleSetTest, StepsEveryNthOfWhatItCounts) {
  set_.Add({.schedule = Halve(), .frequency = 3}, optimizer_, run_);
  std::vector<double> rates;
  for (int update = 0; update < 7; ++update) {
    rates.push_back(lr_);
    set_.Step(StepOn::kUpdate, &optimizer_);
  }
  EXPECT_THAT(rates, ElementsAre(8, 8, 8, 4, 4, 4, 2));
}

// Saved between two steps: the count since the last one comes back too.
TEST_F(ScheduleSetTest, FrequencySurvivesACheckpoint) {
  const FieldSchedule schedule{.schedule = Halve(), .frequency = 3};
  set_.Add(schedule, optimizer_, run_);
  for (int i = 0; i < 5; ++i) set_.Step(StepOn::kUpdate, &optimizer_);
  const State state = set_.SaveState();
  set_.Restore();
  ScheduleSet resumed;
  resumed.Add(schedule, optimizer_, run_);
  resumed.LoadState(state);
  EXPECT_EQ(lr_, 4);
  resumed.Step(StepOn::kUpdate, &optimizer_);
  EXPECT_EQ(lr_, 2);
}

TEST_F(ScheduleSetTest, FrequencyMustBePositive) {
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                set_.Add({.schedule = Halve(), .frequency = 0}, optimizer_,
                         run_);
              }),
              HasSubstr("schedule of \"lr\" has the frequency 0"));
}

TEST_F(ScheduleSetTest, EachStepsWithWhatItCounts) {
  set_.Add({"lr", Halve(), "", StepOn::kUpdate}, optimizer_, run_);
  set_.Add({"weight_decay", Halve(), "", StepOn::kEpoch}, optimizer_, run_);
  set_.Add({"beta1", Halve(), "", StepOn::kBatch}, optimizer_, run_);
  set_.Add({"beta2", Halve(), "", StepOn::kRequest}, optimizer_, run_);
  const double decay = optimizer_.Field(0, "weight_decay");
  const double beta1 = optimizer_.Field(0, "beta1");
  const double beta2 = optimizer_.Field(0, "beta2");
  set_.Step(StepOn::kUpdate, &optimizer_);
  EXPECT_EQ(lr_, 4);
  EXPECT_EQ(optimizer_.Field(0, "weight_decay"), decay);
  set_.Step(StepOn::kEpoch);
  EXPECT_EQ(optimizer_.Field(0, "weight_decay"), decay / 2);
  set_.Step(StepOn::kBatch);
  set_.Step(StepOn::kBatch);
  EXPECT_EQ(optimizer_.Field(0, "beta1"), beta1 / 4);
  set_.Step(StepOn::kRequest, &optimizer_);
  EXPECT_EQ(optimizer_.Field(0, "beta2"), beta2 / 2);
  EXPECT_EQ(lr_, 4);
  set_.Restore();
  EXPECT_EQ(lr_, 8);
  EXPECT_EQ(optimizer_.Field(0, "beta1"), beta1);
}

TEST_F(ScheduleSetTest, UpdateStepsTheSchedulesOfItsOwnOptimizer) {
  set_.Add({"lr", Halve(), "one"}, optimizer_, run_);
  set_.Add({"lr", Halve(), "other"}, other_, run_);
  set_.Step(StepOn::kUpdate, &other_);
  EXPECT_EQ(lr_, 8);
  EXPECT_EQ(other_lr_, 4);
}

TEST_F(ScheduleSetTest, FactoryGetsTheLengthOfTheRunInSteps) {
  const auto length = [&](StepOn on, int64_t frequency = 1) {
    RunLength seen;
    ScheduleSet set;
    set.Add({.schedule =
                 [&](const RunLength& run) {
                   seen = run;
                   return std::make_unique<Halving>();
                 },
             .step_on = on,
             .frequency = frequency},
            optimizer_, run_);
    set.Restore();
    return std::vector<std::optional<int64_t>>{
        seen.num_epochs, seen.updates_per_epoch, seen.total_updates};
  };
  EXPECT_THAT(length(StepOn::kUpdate), ElementsAre(3, 10, 30));
  EXPECT_THAT(length(StepOn::kBatch), ElementsAre(3, 20, 60));
  EXPECT_THAT(length(StepOn::kEpoch), ElementsAre(3, 1, 3));
  EXPECT_THAT(length(StepOn::kRequest), ElementsAre(3, 10, 30));
  EXPECT_THAT(length(StepOn::kUpdate, 5), ElementsAre(3, 2, 6));
  // 60 batches are 8 steps, and an epoch is not a whole number of them.
  EXPECT_THAT(length(StepOn::kBatch, 8), ElementsAre(3, std::nullopt, 8));
  EXPECT_THAT(ErrorOf([&] {
                set_.Add(
                    {.schedule = Linear({.length = Epochs(1)}), .frequency = 3},
                    optimizer_, run_);
              }),
              HasSubstr("the run does not know its updates per epoch"));
}

// What is known only when the run starts is there to calculate with: here a
// fall to 13 / 26 of the rate over 16 of the 30 updates.
TEST_F(ScheduleSetTest, AFactoryCalculatesWithTheLengthsOfTheRun) {
  const auto schedule = [](const RunLength& run) {
    const double updates = *run.num_epochs * *run.updates_per_epoch * 0.5 + 1;
    const double loaders = *run.batches_per_epoch - *run.eval_batches;
    return Linear({.start_ratio = 1,
                   .end_ratio = loaders / 26,
                   .length = Updates(updates)})(run);
  };
  set_.Add({"lr", schedule}, optimizer_, run_);
  EXPECT_EQ(lr_, 8);
  for (int update = 0; update < 15; ++update) {
    set_.Step(StepOn::kUpdate, &optimizer_);
  }
  EXPECT_EQ(lr_, 8 - 4 * 15 / 16.0);
  set_.Step(StepOn::kUpdate, &optimizer_);
  EXPECT_EQ(lr_, 4);
  set_.Step(StepOn::kUpdate, &optimizer_);
  EXPECT_EQ(lr_, 4);
}

TEST_F(ScheduleSetTest, GivesMetricSchedulesTheirMetric) {
  set_.Add({.schedule = OnPlateau({.factor = 0.5, .patience = 0})}, optimizer_,
           run_);
  EXPECT_TRUE(set_.has_metric_schedules());
  set_.Observe({{"eval_loss", 1.0}});
  EXPECT_EQ(lr_, 8);
  set_.Observe({{"eval_loss", 1.0}});
  EXPECT_EQ(lr_, 4);
  EXPECT_THAT(
      ErrorOf<std::exception>([&] { set_.Observe({{"rare_loss", 1.0}}); }),
      HasSubstr("schedule of \"lr\" watches \"eval_loss\", which was "
                "not measured; there is rare_loss"));
}

TEST_F(ScheduleSetTest, ResumesFromASavedState) {
  const auto fill = [&](ScheduleSet& set) {
    set.Add({.schedule = OnPlateau({.factor = 0.5, .patience = 0})}, optimizer_,
            run_);
    set.Add({"weight_decay", Halve()}, optimizer_, run_);
  };
  fill(set_);
  const double decay = optimizer_.Field(0, "weight_decay");
  set_.Observe({{"eval_loss", 1.0}});
  set_.Observe({{"eval_loss", 1.0}});
  set_.Step(StepOn::kUpdate, &optimizer_);
  const State state = set_.SaveState();
  set_.Restore();
  ScheduleSet resumed;
  fill(resumed);
  EXPECT_EQ(lr_, 8);
  resumed.LoadState(state);
  EXPECT_EQ(lr_, 4);
  EXPECT_EQ(optimizer_.Field(0, "weight_decay"), decay / 2);
  resumed.Observe({{"eval_loss", 1.0}});
  EXPECT_EQ(lr_, 2);
}

TEST_F(ScheduleSetTest, RefusesTwoSchedulesOfOneField) {
  set_.Add({"lr", Halve()}, optimizer_, run_);
  EXPECT_THAT(ErrorOf<std::exception>(
                  [&] { set_.Add({"lr", Halve()}, optimizer_, run_); }),
              HasSubstr("\"lr\" has two schedules"));
}

}  // namespace
}  // namespace trainyard

#include "schedulers/plateau.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "schedulers/metric_schedule.h"
#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using Threshold = PlateauOptions::Threshold;

TEST(PlateauTest, HeaderExample) {
  Plateau plateau({.factor = 0.5, .patience = 2});
  for (double eval_loss : {1.0, 0.8, 0.9, 0.9}) plateau.Observe(eval_loss);
  EXPECT_EQ(plateau.ValueAt(4, 3e-3), 3e-3);
  plateau.Observe(0.9);
  EXPECT_EQ(plateau.ValueAt(5, 3e-3), 1.5e-3);
}

TEST(MetricScheduleTest, HeaderExample) {
  std::unique_ptr<MetricSchedule> schedule =
      std::make_unique<Plateau>(PlateauOptions{.patience = 2});
  for (int i = 0; i < 4; ++i) schedule->Observe(1.0);
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 0.1);
}

TEST(PlateauTest, ResumesFromASavedState) {
  Plateau straight({.factor = 0.5, .patience = 1}), first = straight;
  const std::vector<double> metrics = {3, 2, 2, 2, 1, 1, 1, 1};
  for (double metric : metrics) straight.Observe(metric);
  for (int stop = 0; stop <= 8; ++stop) {
    Plateau before = first, after = first;
    for (int i = 0; i < stop; ++i) before.Observe(metrics[i]);
    after.LoadState(before.SaveState());
    for (int i = stop; i < 8; ++i) after.Observe(metrics[i]);
    EXPECT_EQ(after.state(), straight.state()) << stop;
  }
}

TEST(PlateauTest, EveryRunGetsItsOwn) {
  const ScheduleFactory make = OnPlateau({.patience = 0});
  const std::unique_ptr<Schedule> one = make({}), other = make({});
  auto& shown = dynamic_cast<MetricSchedule&>(*one);
  shown.Observe(1);
  shown.Observe(1);
  EXPECT_EQ(one->ValueAt(0, 1), 0.1);
  EXPECT_EQ(other->ValueAt(0, 1), 1);
}

PlateauOptions OptionsOf(const GoldenCase& golden) {
  return {
      .better =
          golden.Text("better") == "lower" ? Better::kLower : Better::kHigher,
      .factor = golden.Number("factor"),
      .patience = golden.Integer("patience"),
      .threshold = golden.Number("threshold"),
      .threshold_mode = golden.Text("threshold_mode") == "rel"
                            ? Threshold::kRelative
                            : Threshold::kAbsolute,
      .cooldown = golden.Integer("cooldown"),
      .min_value = golden.Number("min_value"),
      .epsilon = golden.Number("epsilon"),
  };
}

TEST(PlateauTest, EqualsPython) {
  const std::vector<GoldenCase> cases = ReadGolden("plateau");
  ASSERT_GE(cases.size(), 5u);
  for (const GoldenCase& golden : cases) {
    Plateau plateau(OptionsOf(golden));
    const std::vector<double>& metrics = golden.sequences.at("metrics");
    ASSERT_GE(metrics.size(), 500u);
    for (size_t i = 0; i < metrics.size(); ++i) {
      plateau.Observe(metrics[i]);
      ASSERT_NO_FATAL_FAILURE(ExpectGoldenValue(
          golden, i, plateau.ValueAt(0, golden.base()), Within::kOfValue));
    }
    EXPECT_GT(plateau.state().falls, 0) << golden.name;
  }
}

TEST(PlateauTest, RestoredScheduleContinues) {
  const GoldenCase golden = ReadGolden("plateau")[3];
  const std::vector<double>& metrics = golden.sequences.at("metrics");
  Plateau whole(OptionsOf(golden));
  for (size_t i = 0; i < 137; ++i) whole.Observe(metrics[i]);
  Plateau resumed(OptionsOf(golden));
  resumed.Restore(whole.state());
  for (size_t i = 137; i < metrics.size(); ++i) {
    whole.Observe(metrics[i]);
    resumed.Observe(metrics[i]);
    ASSERT_EQ(resumed.state(), whole.state()) << i;
    ASSERT_EQ(resumed.ValueAt(0, 0.1), whole.ValueAt(0, 0.1)) << i;
  }
}

TEST(PlateauTest, GroupsFallToTheirOwnMinimum) {
  Plateau plateau({.factor = 0.1, .patience = 0, .min_ratio = 0.05});
  for (int i = 0; i < 5; ++i) plateau.Observe(1.0);
  EXPECT_EQ(plateau.ValueAt(0, 1.0), 0.05);
  EXPECT_EQ(plateau.ValueAt(0, 4.0), 0.2);
}

TEST(PlateauTest, NanIsNotAnImprovement) {
  Plateau plateau({.patience = 0});
  plateau.Observe(std::nan(""));
  EXPECT_EQ(plateau.state().falls, 1);
  EXPECT_FALSE(plateau.state().best.has_value());
  plateau.Observe(std::numeric_limits<double>::infinity());
  EXPECT_EQ(plateau.state().falls, 2);
  plateau.Observe(5.0);
  EXPECT_EQ(plateau.state().falls, 2);
  EXPECT_EQ(plateau.state().best, 5.0);
}

TEST(PlateauTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Plateau({.factor = 1}); }),
            "Plateau: factor is 1, want less than 1");
  EXPECT_EQ(ErrorOf([] { Plateau({.factor = 0}); }),
            "Plateau: factor is 0, want more than 0");
  EXPECT_EQ(ErrorOf([] { Plateau({.patience = -1}); }),
            "Plateau: patience is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { Plateau({.threshold = -1}); }),
            "Plateau: threshold is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { Plateau({.cooldown = -1}); }),
            "Plateau: cooldown is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { Plateau({.epsilon = -1}); }),
            "Plateau: epsilon is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { Plateau().Restore({.falls = -1}); }),
            "Plateau: saved falls is -1, want at least 0");
}

}  // namespace
}  // namespace trainyard

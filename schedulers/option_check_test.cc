#include "schedulers/option_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Cosine");
constexpr RunLength kRun{
    .num_epochs = 5, .updates_per_epoch = 469, .total_updates = 2345};

TEST(OptionCheckTest, HeaderExample) {
  kCheck.Positive("k_decay", 1.0);
  EXPECT_EQ(kCheck.Updates("warmup", Epochs(1), kRun), 469);
}

TEST(OptionCheckTest, DurationsBecomeUpdates) {
  EXPECT_EQ(kCheck.Updates("warmup", Updates(30), kRun), 30);
  EXPECT_EQ(kCheck.Updates("warmup", Epochs(0.5), kRun), 235);
  EXPECT_EQ(kCheck.Updates("warmup", Epochs(0), kRun), 0);
  EXPECT_EQ(kCheck.Period("every", Epochs(2), kRun), 938);
  EXPECT_EQ(kCheck.WithinRun("warmup", Epochs(5), kRun), 2345);
  EXPECT_EQ(kCheck.Total(kRun), 2345);
}

TEST(OptionCheckTest, UnsetPartIsTheWholeRun) {
  EXPECT_EQ(kCheck.PartOrRun("length", std::nullopt, kRun), 2345);
  EXPECT_EQ(kCheck.PartOrRun("length", Epochs(2), kRun), 938);
}

TEST(OptionCheckTest, UpdatesNeedNoRunLength) {
  EXPECT_EQ(kCheck.Updates("warmup", Updates(30), RunLength{}), 30);
  EXPECT_EQ(kCheck.WithinRun("warmup", Updates(30), RunLength{}), 30);
}

TEST(OptionCheckTest, LevelIsAValueOrARatio) {
  const Level otherwise{.ratio = 1};
  EXPECT_EQ(kCheck.ValueOrRatio("min", 0.25, std::nullopt, otherwise).Of(8.0),
            0.25);
  EXPECT_EQ(kCheck.ValueOrRatio("min", std::nullopt, 0.25, otherwise).Of(8.0),
            2.0);
  EXPECT_EQ(
      kCheck.ValueOrRatio("min", std::nullopt, std::nullopt, otherwise).Of(8.0),
      8.0);
}

struct BadCase {
  std::string name;
  std::function<void()> check;
  std::string message;
};

class OptionCheckErrorTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(OptionCheckErrorTest, NamesScheduleFieldAndValue) {
  try {
    GetParam().check();
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OptionCheckErrorTest,
    ::testing::Values(
        BadCase{"Positive", [] { kCheck.Positive("gamma", 0); },
                "Cosine: gamma is 0, want more than 0"},
        BadCase{"NotNegative", [] { kCheck.NotNegative("gamma", -0.5); },
                "Cosine: gamma is -0.5, want at least 0"},
        BadCase{"Finite", [] { kCheck.Finite("gamma", std::nan("")); },
                "Cosine: gamma is nan, want a number"},
        BadCase{"Infinite", [] { kCheck.Positive("gamma", INFINITY); },
                "Cosine: gamma is inf, want a number"},
        BadCase{"Between", [] { kCheck.Between("pct", 1.5, 0, 1); },
                "Cosine: pct is 1.5, want 0 to 1"},
        BadCase{"Unit", [] { kCheck.Resolvable("warmup", Seconds(3)); },
                "Cosine: warmup is 3 seconds, want updates or epochs"},
        BadCase{"ZeroPeriod",
                [] { kCheck.ResolvablePeriod("every", Epochs(0)); },
                "Cosine: every is 0 epochs, want more than 0"},
        BadCase{"TinyPeriod",
                [] { kCheck.Period("every", Epochs(1e-4), kRun); },
                "Cosine: every is 0.0001 epochs, less than one of the 469 "
                "updates of an epoch"},
        BadCase{"Both", [] { kCheck.ValueOrRatio("min", 0.1, 0.2, {}); },
                "Cosine: both min_value (0.1) and min_ratio (0.2) are set, "
                "want one"},
        BadCase{"NegativeRatio",
                [] { kCheck.ValueOrRatio("min", std::nullopt, -1, {}); },
                "Cosine: min_ratio is -1, want at least 0"},
        BadCase{"EpochOfUnknownLength",
                [] { kCheck.Updates("warmup", Epochs(1), RunLength{}); },
                "Cosine: warmup is 1 epoch, but the run does not know its "
                "updates per epoch"},
        BadCase{"TooLong", [] { kCheck.WithinRun("warmup", Epochs(6), kRun); },
                "Cosine: warmup is 6 epochs (2814 updates), longer than the "
                "run of 2345 updates"},
        BadCase{"TooShort",
                [] { kCheck.PartOrRun("length", Epochs(1e-4), kRun); },
                "Cosine: length is 0.0001 epochs, less than one of the 469 "
                "updates of an epoch"},
        BadCase{"UnknownRun", [] { kCheck.Total(RunLength{}); },
                "Cosine: the run's total_updates is unknown"},
        BadCase{"EmptyRun", [] { kCheck.Total({.total_updates = 0}); },
                "Cosine: the run's total_updates is 0, want at least 1"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trainyard

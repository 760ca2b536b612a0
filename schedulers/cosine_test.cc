#include "schedulers/cosine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>

#include "schedulers/schedule.h"
#include "schedulers/testing/golden_file.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

constexpr RunLength kRun{
    .num_epochs = 10, .updates_per_epoch = 10, .total_updates = 100};

TEST(CosineTest, HeaderExample) {
  const auto schedule = Cosine({.warmup = Epochs(1), .min_ratio = 0.01})(kRun);
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 0.0);
  EXPECT_EQ(schedule->ValueAt(5, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(10, 1.0), 1.0);
  EXPECT_NEAR(schedule->ValueAt(55, 1.0), 0.505, 1e-15);
  EXPECT_EQ(schedule->ValueAt(100, 1.0), 0.01);
}

TEST(CosineTest, FallsFromBaseToZeroByDefault) {
  const auto schedule = Cosine()(kRun);
  EXPECT_EQ(schedule->ValueAt(0, 3e-3), 3e-3);
  EXPECT_NEAR(schedule->ValueAt(50, 3e-3), 1.5e-3, 1e-18);
  EXPECT_GT(schedule->ValueAt(99, 3e-3), 0.0);
  EXPECT_EQ(schedule->ValueAt(100, 3e-3), 0.0);
}

// In pytorch-accelerated the cosine ends too early by the length of warm-up:
// here at update 60, at 27 % of the maximum.
TEST(CosineTest, CoolDownStartsWhereItsLengthSays) {
  const auto schedule = Cosine({.warmup = Updates(20),
                                .cooldown = Updates(20),
                                .min_value = 0.01})(kRun);
  EXPECT_NEAR(schedule->ValueAt(50, 1.0), 0.505, 1e-15);
  EXPECT_GT(schedule->ValueAt(60, 1.0), 0.25);
  EXPECT_GT(schedule->ValueAt(79, 1.0), 0.01);
  for (int64_t update : {80, 99, 100, 1000}) {
    EXPECT_EQ(schedule->ValueAt(update, 1.0), 0.01) << update;
  }
}

// In pytorch-accelerated the step ignores the ratio, and warm-up overshoots.
TEST(CosineTest, WarmUpFromARatioEndsAtTheBase) {
  const auto schedule =
      Cosine({.warmup = Updates(20), .warmup_start_ratio = 0.1})(kRun);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(0, 2.0), 0.2);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(10, 2.0), 1.1);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(19, 2.0), 0.2 + 19 * 0.09);
  EXPECT_EQ(schedule->ValueAt(20, 2.0), 2.0);
}

TEST(CosineTest, LevelsFollowEachGroupsBase) {
  const auto ratio = Cosine({.warmup = Updates(10),
                             .warmup_start_ratio = 0.5,
                             .min_ratio = 0.25})(kRun);
  const auto value = Cosine({.warmup = Updates(10),
                             .warmup_start_value = 0.5,
                             .min_value = 0.25})(kRun);
  for (double base : {1.0, 4.0}) {
    EXPECT_EQ(ratio->ValueAt(0, base), 0.5 * base);
    EXPECT_EQ(value->ValueAt(0, base), 0.5);
    EXPECT_EQ(ratio->ValueAt(100, base), 0.25 * base);
    EXPECT_EQ(value->ValueAt(100, base), 0.25);
  }
}

TEST(CosineTest, KDecayStaysHighForLonger) {
  const auto one = Cosine()(kRun), two = Cosine({.k_decay = 2})(kRun);
  for (int64_t update = 1; update < 100; ++update) {
    EXPECT_GT(two->ValueAt(update, 1.0), one->ValueAt(update, 1.0)) << update;
  }
  EXPECT_NEAR(two->ValueAt(50, 1.0), 0.5 * (1 + std::cos(std::numbers::pi / 4)),
              1e-15);
}

TEST(CosineTest, CyclesDivideTheRunAndDecay) {
  // 20 + 30 + 45 = 95 updates after 5 of warm-up.
  const auto schedule = Cosine({.warmup = Updates(5),
                                .cycles = 3,
                                .cycle_mul = 1.5,
                                .cycle_decay = 0.5})(kRun);
  EXPECT_EQ(schedule->ValueAt(5, 1.0), 1.0);
  EXPECT_NEAR(schedule->ValueAt(15, 1.0), 0.5, 1e-15);
  EXPECT_EQ(schedule->ValueAt(25, 1.0), 0.5);
  EXPECT_NEAR(schedule->ValueAt(40, 1.0), 0.25, 1e-15);
  EXPECT_EQ(schedule->ValueAt(55, 1.0), 0.25);
  EXPECT_LT(schedule->ValueAt(99, 1.0), 0.001);
  EXPECT_EQ(schedule->ValueAt(100, 1.0), 0.0);
}

TEST(CosineTest, ACycleStartsOnTheUpdateItShould) {
  // 230 / (1 + 1.3) is a little above 100 in floating point.
  const auto schedule =
      Cosine({.cycles = 2, .cycle_mul = 1.3})({.total_updates = 230});
  EXPECT_LT(schedule->ValueAt(99, 1.0), 0.001);
  EXPECT_EQ(schedule->ValueAt(100, 1.0), 1.0);
}

TEST(CosineTest, WarmUpMayFillTheRun) {
  const auto schedule = Cosine({.warmup = Epochs(10), .min_ratio = 0.1})(kRun);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(99, 1.0), 0.99);
  EXPECT_EQ(schedule->ValueAt(100, 1.0), 0.1);
}

TEST(CosineTest, EqualsPython) {
  ExpectGolden("cosine", Within::kOfBase, [](const GoldenCase& golden) {
    return Cosine({.warmup = Updates(golden.Number("warmup")),
                   .warmup_start_value = golden.Number("warmup_start_value"),
                   .min_value = golden.Number("min_value"),
                   .k_decay = golden.Number("k_decay"),
                   .cycles = golden.Integer("cycles"),
                   .cycle_mul = golden.Number("cycle_mul"),
                   .cycle_decay = golden.Number("cycle_decay")});
  });
}

struct BadCase {
  std::string name;
  CosineOptions options;
  std::string message;
  // Known without a run, so thrown before it.
  bool at_once = true;
};

class CosineErrorTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(CosineErrorTest, NamesFieldAndValue) {
  ScheduleFactory make;
  try {
    make = Cosine(GetParam().options);
    EXPECT_FALSE(GetParam().at_once);
    make(kRun);
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), GetParam().message);
    EXPECT_EQ(make == nullptr, GetParam().at_once);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, CosineErrorTest,
    ::testing::Values(
        BadCase{"WarmUpUnit",
                {.warmup = Batches(5)},
                "Cosine: warmup is 5 batches, want updates or epochs"},
        BadCase{"CoolDownUnit",
                {.cooldown = Seconds(5)},
                "Cosine: cooldown is 5 seconds, want updates or epochs"},
        BadCase{"TwoMinima",
                {.min_value = 0.0, .min_ratio = 0.5},
                "Cosine: both min_value (0) and min_ratio (0.5) are set, want "
                "one"},
        BadCase{"NegativeStart",
                {.warmup_start_value = -1.0},
                "Cosine: warmup_start_value is -1, want at least 0"},
        BadCase{"ZeroKDecay",
                {.k_decay = 0},
                "Cosine: k_decay is 0, want more than 0"},
        BadCase{
            "NoCycle", {.cycles = 0}, "Cosine: cycles is 0, want at least 1"},
        BadCase{"CycleMul",
                {.cycle_mul = -2},
                "Cosine: cycle_mul is -2, want more than 0"},
        BadCase{"CycleDecay",
                {.cycle_decay = 0},
                "Cosine: cycle_decay is 0, want more than 0"},
        BadCase{"LongWarmUp",
                {.warmup = Epochs(11)},
                "Cosine: warmup is 11 epochs (110 updates), longer than the "
                "run of 100 updates",
                false},
        BadCase{"LongTogether",
                {.warmup = Epochs(6), .cooldown = Updates(50)},
                "Cosine: warmup of 6 epochs (60 updates) and cooldown of 50 "
                "updates are together longer than the run of 100 updates",
                false},
        BadCase{"TooManyCycles",
                {.warmup = Updates(95), .cycles = 6},
                "Cosine: cycles is 6, more than the 5 updates between warm-up "
                "and cool-down",
                false}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trainyard

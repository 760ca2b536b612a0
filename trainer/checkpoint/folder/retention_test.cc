#include "trainer/checkpoint/folder/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Removed(const std::vector<StepInfo>& steps,
                             const RetentionOptions& options) {
  std::vector<int64_t> removed;
  for (const StepInfo& step : StepsToRemove(steps, options)) {
    removed.push_back(step.step);
  }
  return removed;
}

std::vector<StepInfo> Steps(const std::vector<double>& losses) {
  std::vector<StepInfo> steps;
  for (const double loss : losses) {
    const auto number = static_cast<int64_t>(steps.size()) + 1;
    steps.push_back({.step = number, .sequence = number});
    steps.back().metrics["loss"] = loss;
  }
  return steps;
}

TEST(RetentionTest, KeepsTheLastTheBestAndEveryNth) {
  const auto steps = Steps({5, 1, 4, 1, 3, 9, 8});
  EXPECT_THAT(Removed(steps, {.last = 3}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Removed(steps, {.last = std::nullopt}), ElementsAre());
  EXPECT_THAT(Removed(steps, {.last = 9}), ElementsAre());
  EXPECT_THAT(Removed(steps, {.last = 1, .best = 1, .metric = "loss"}),
              ElementsAre(1, 2, 3, 5, 6))
      << "the later of two equal ones";
  EXPECT_THAT(
      Removed(
          steps,
          {.last = 1, .best = 2, .metric = "loss", .better = Better::kHigher}),
      ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(Removed(steps, {.last = 1, .every = 3}), ElementsAre(1, 2, 4, 5));
}

TEST(RetentionTest, NanIsNeverTheBest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Removed(Steps({nan, 2, nan, 7}),
                      {.last = 1, .best = 1, .metric = "loss"}),
              ElementsAre(1, 3));
  EXPECT_THAT(
      Removed(Steps({nan, 2, 7}), {.last = 1, .best = 1, .metric = "other"}),
      ElementsAre(1, 2));
}

TEST(RetentionTest, RejectsInconsistentOptions) {
  const auto error = [](const RetentionOptions& options) {
    return ErrorOf<std::invalid_argument>([&] { CheckRetention(options); });
  };
  EXPECT_EQ(error({.last = 0}),
            "RetentionOptions: last is 0; it must be at least 1");
  EXPECT_EQ(error({.best = -1}),
            "RetentionOptions: best is -1; it must be at least 0");
  EXPECT_EQ(error({.best = 1}),
            "RetentionOptions: best is 1, but metric is not set");
  EXPECT_EQ(error({.every = 0}),
            "RetentionOptions: every is 0; it must be at least 1");
  EXPECT_NO_THROW(CheckRetention({.best = 1, .metric = "loss"}));
}

// Runs that return to lower steps, clocks that go back, options that change
// between runs, and crashes between a save and the deletions after it.
TEST(RetentionTest, TheNewestAndTheBestSurviveAnyHistory) {
  std::mt19937_64 random(1);
  for (int sequence = 0; sequence < 10'000; ++sequence) {
    std::vector<StepInfo> kept;
    int64_t step = 0;
    for (int64_t save = 1; save <= 12; ++save) {
      step = random() % 5 == 0 ? static_cast<int64_t>(random() % 20) : step + 1;
      const RetentionOptions options{
          .last = random() % 4 == 0
                      ? std::nullopt
                      : std::optional<int>(1 + static_cast<int>(random() % 3)),
          .best = static_cast<int>(random() % 2),
          .metric = "loss",
          .every = random() % 4 == 0
                       ? std::nullopt
                       : std::optional<int64_t>(
                             1 + static_cast<int64_t>(random() % 3))};
      std::erase_if(kept, [step](const StepInfo& info) {
        return info.step == step;  // replaced
      });
      StepInfo info{.step = step,
                    .sequence = save,
                    .wall_time_us = static_cast<int64_t>(random() % 1000)};
      if (random() % 3 != 0) {
        info.metrics["loss"] = random() % 7 == 0
                                   ? std::nan("")
                                   : static_cast<double>(random() % 10);
      }
      kept.push_back(info);
      double best = std::numeric_limits<double>::infinity();
      for (const StepInfo& one : kept) {
        const auto loss = one.metrics.find("loss");
        if (loss != one.metrics.end() && loss->second < best) {
          best = loss->second;
        }
      }
      if (random() % 4 == 0) continue;  // crashed before the deletions
      std::vector<StepInfo> shuffled = kept;
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      for (const StepInfo& gone : StepsToRemove(shuffled, options)) {
        ASSERT_NE(gone.sequence, save) << "the newest";
        std::erase_if(kept, [&gone](const StepInfo& one) {
          return one.sequence == gone.sequence;
        });
      }
      ASSERT_FALSE(kept.empty());
      if (options.best == 1 && std::isfinite(best)) {
        ASSERT_TRUE(
            std::any_of(kept.begin(), kept.end(), [best](const StepInfo& one) {
              const auto loss = one.metrics.find("loss");
              return loss != one.metrics.end() && loss->second == best;
            }));
      }
    }
  }
}

}  // namespace
}  // namespace trainyard

#include "trainer/checkpoint/folder/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

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

TEST(RetentionTest, TheLastTheBestAndEveryNthStay) {
  const auto steps = Steps({5, 1, 4, 1, 3, 9, 8});
  EXPECT_THAT(Removed(steps, {.last = 3}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Removed(steps, {.last = 0}), ElementsAre());
  EXPECT_THAT(Removed(steps, {.last = 9}), ElementsAre());
  EXPECT_THAT(Removed(steps, {.last = 1, .best = 1, .metric = "loss"}),
              ElementsAre(1, 2, 3, 5, 6))
      << "of equal ones the later";
  EXPECT_THAT(
      Removed(
          steps,
          {.last = 1, .best = 2, .metric = "loss", .better = Better::kHigher}),
      ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(Removed(steps, {.last = 1, .every = 3}), ElementsAre(1, 2, 4, 5));
}

TEST(RetentionTest, WhatIsNoNumberIsNeverTheBest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Removed(Steps({nan, 2, nan, 7}),
                      {.last = 1, .best = 1, .metric = "loss"}),
              ElementsAre(1, 3));
  EXPECT_THAT(
      Removed(Steps({nan, 2, 7}), {.last = 1, .best = 1, .metric = "other"}),
      ElementsAre(1, 2));
}

TEST(RetentionTest, OptionsThatCannotBeAreRefused) {
  EXPECT_THROW(CheckRetention({.last = -1}), std::invalid_argument);
  EXPECT_THROW(CheckRetention({.best = -1}), std::invalid_argument);
  EXPECT_THROW(CheckRetention({.best = 1}), std::invalid_argument);
  EXPECT_THROW(CheckRetention({.every = -1}), std::invalid_argument);
  EXPECT_NO_THROW(CheckRetention({.best = 1, .metric = "loss"}));
}

// Runs that go back to lower steps, with clocks that are set back, options that
// change between runs, and crashes between a save and its removals.
TEST(RetentionTest, TheNewestAndTheBestOutliveAnySequence) {
  std::mt19937_64 random(1);
  for (int sequence = 0; sequence < 10'000; ++sequence) {
    std::vector<StepInfo> kept;
    int64_t step = 0;
    for (int64_t save = 1; save <= 12; ++save) {
      step = random() % 5 == 0 ? static_cast<int64_t>(random() % 20) : step + 1;
      const RetentionOptions options{
          .last = static_cast<int>(random() % 4),
          .best = static_cast<int>(random() % 2),
          .metric = "loss",
          .every = static_cast<int64_t>(random() % 4)};
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
      if (random() % 4 == 0) continue;  // ended before anything was removed
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

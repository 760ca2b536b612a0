#include "trainer/train_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TrainUnitTest, HeaderExample) {
  const Period save = Every(Epochs(1)), look = At(Batches({1, 5, 10}));
  const Period report = Never();
  const Period evaluate = When([](const Progress& now) {
    return std::has_single_bit(static_cast<uint64_t>(now.updates));
  });
  const Progress previous{.batches = 4}, current{.batches = 5};
  look.Due(previous, current);
  EXPECT_TRUE(look.Due(previous, current));
  EXPECT_FALSE(save.Due(previous, current));
  EXPECT_FALSE(report.Due(previous, current));
  EXPECT_FALSE(evaluate.Due(previous, current));
  EXPECT_TRUE(evaluate.Due(previous, {.updates = 4}));
}

// The batches, of `count`, at which the period is due, with epochs of `epoch`
// batches, two batches per update, eight samples per batch and half a second
// per batch.
std::vector<int64_t> DueBatches(const Period& period, int64_t count,
                                int64_t epoch = 7, int64_t stride = 1) {
  std::vector<int64_t> due;
  Progress previous;
  for (int64_t batch = stride; batch <= count; batch += stride) {
    const Progress current{.batches = batch,
                           .updates = batch / 2,
                           .samples = batch * 8,
                           .epochs = batch / epoch,
                           .seconds = 0.5 * static_cast<double>(batch)};
    if (period.Due(previous, current)) due.push_back(batch);
    previous = current;
  }
  return due;
}

TEST(PeriodTest, EveryIsDueAtMultiplesOfItsLength) {
  EXPECT_THAT(DueBatches(Every(Batches(3)), 10), ElementsAre(3, 6, 9));
  EXPECT_THAT(DueBatches(Every(Updates(2)), 13), ElementsAre(4, 8, 12));
  EXPECT_THAT(DueBatches(Every(Seconds(2.5)), 15), ElementsAre(5, 10, 15));
}

TEST(PeriodTest, EpochsAreDueAtTheirEndsOnly) {
  EXPECT_THAT(DueBatches(Every(Epochs(1)), 22), ElementsAre(7, 14, 21));
  EXPECT_THAT(DueBatches(Every(Epochs(2)), 22), ElementsAre(14));
  EXPECT_THAT(DueBatches(At(Epochs({1, 3})), 22), ElementsAre(7, 21));
}

TEST(PeriodTest, WhenIsDueWhereItsFunctionSays) {
  int64_t asked = 0;
  const Period period = When([&](const Progress& now) {
    ++asked;
    return now.batches % 5 == 2;
  });
  EXPECT_THAT(DueBatches(period, 20), ElementsAre(2, 7, 12, 17));
  EXPECT_EQ(asked, 20);
  EXPECT_FALSE(period.never());
  EXPECT_EQ(ToString(period), "when a function says so");
  // Without progress nothing is due, and the function is not asked.
  const Progress here{.batches = 2};
  EXPECT_FALSE(period.Due(here, here));
  EXPECT_EQ(asked, 20);
}

TEST(PeriodTest, FunctionsAreEqualIfCopied) {
  const auto always = [](const Progress&) { return true; };
  const Period period = When(always), copy = period;
  EXPECT_EQ(period, copy);
  EXPECT_NE(period, When(always));
  EXPECT_NE(period, Never());
}

TEST(PeriodTest, TellsWhetherSecondsMatter) {
  EXPECT_TRUE(Every(Seconds(1)).uses_seconds());
  EXPECT_TRUE(At(Seconds({1, 2})).uses_seconds());
  EXPECT_TRUE(When([](const Progress&) { return true; }).uses_seconds());
  EXPECT_FALSE(Every(Batches(1)).uses_seconds());
  EXPECT_FALSE(At(Epochs({1})).uses_seconds());
  EXPECT_FALSE(Never().uses_seconds());
}

TEST(PeriodTest, AtIsDueAtItsPointsInAnyOrder) {
  EXPECT_THAT(DueBatches(At(Batches({10, 1, 5, 5})), 20),
              ElementsAre(1, 5, 10));
  EXPECT_THAT(DueBatches(At(Batches(5)), 20), ElementsAre(5));
  EXPECT_THAT(DueBatches(At(Batches({5})), 20), ElementsAre(5));
}

TEST(PeriodTest, SkippedPointsAreDueOnceAtTheNextQuestion) {
  // Asked after every fourth batch only.
  EXPECT_THAT(DueBatches(Every(Batches(5)), 16, 7, 4), ElementsAre(8, 12, 16));
  EXPECT_THAT(DueBatches(At(Batches({1, 2, 9})), 16, 7, 4), ElementsAre(4, 12));
  // A batch of 8 samples crosses two or three points of this one.
  EXPECT_THAT(DueBatches(Every(Samples(3)), 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(DueBatches(Every(Samples(20)), 8), ElementsAre(3, 5, 8));
}

TEST(PeriodTest, NothingIsDueWithoutProgress) {
  const Progress start, middle{.batches = 12, .epochs = 2};
  for (const Period& period :
       {Every(Batches(1)), Every(Batches(12)), At(Batches({12})),
        Every(Epochs(1)), Every(Seconds(0.1))}) {
    EXPECT_FALSE(period.Due(start, start)) << ToString(period);
    EXPECT_FALSE(period.Due(middle, middle)) << ToString(period);
  }
}

TEST(PeriodTest, NeverIsNeverDue) {
  static_assert(!std::is_default_constructible_v<Period>);
  EXPECT_TRUE(Never().never());
  EXPECT_THAT(DueBatches(Never(), 100), IsEmpty());
  EXPECT_FALSE(Every(Batches(1)).never());
  EXPECT_FALSE(At(Batches(1)).never());
}

TEST(PeriodTest, ResumedProgressContinuesWhereItStopped) {
  // Saved after batch 5 and asked again from there: 6 comes next, 3 does not
  // repeat.
  const Period period = Every(Batches(3));
  EXPECT_FALSE(period.Due({.batches = 4}, {.batches = 5}));
  EXPECT_TRUE(period.Due({.batches = 5}, {.batches = 6}));
}

TEST(DurationTest, IsReachedAtItsAmount) {
  EXPECT_FALSE(Reached({.updates = 9}, Updates(10)));
  EXPECT_TRUE(Reached({.updates = 10}, Updates(10)));
  EXPECT_FALSE(Reached({.epochs = 0}, Epochs(0.5)));
  EXPECT_TRUE(Reached({.seconds = 2.5}, Seconds(2)));
}

TEST(DurationTest, IsComparedByUnitAndAmount) {
  EXPECT_EQ(Batches(3), (Duration{TrainUnit::kBatches, 3}));
  EXPECT_NE(Batches(3), Updates(3));
  EXPECT_NE(Epochs(0.5), Epochs(1));
  EXPECT_EQ(Every(Epochs(1)), Every(Epochs(1)));
  EXPECT_NE(Every(Epochs(1)), At(Epochs(1)));
}

TEST(ToStringTest, ReadsAsAPersonWouldSayIt) {
  EXPECT_EQ(ToString(Batches(100)), "100 batches");
  EXPECT_EQ(ToString(Batches(1)), "1 batch");
  EXPECT_EQ(ToString(Epochs(1)), "1 epoch");
  EXPECT_EQ(ToString(Epochs(0.5)), "0.5 epochs");
  EXPECT_EQ(ToString(Samples(3000000)), "3000000 samples");
  EXPECT_EQ(ToString(Seconds(2.25)), "2.25 seconds");
  EXPECT_EQ(ToString(Every(Updates(20))), "every 20 updates");
  EXPECT_EQ(ToString(At(Batches({10, 1}))), "at batches 1, 10");
  EXPECT_EQ(ToString(Never()), "never");
}

struct BadCase {
  std::string name;
  std::function<void()> make;
  std::string message;
};

class TrainUnitErrorTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(TrainUnitErrorTest, NamesTheMakerAndTheValue) {
  try {
    GetParam().make();
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainUnitErrorTest,
    ::testing::Values(
        BadCase{"Negative", [] { Batches(-1); },
                "Batches: the amount is -1, want at least 0"},
        BadCase{"Fraction", [] { Updates(0.5); },
                "Updates: the amount is 0.5, want a whole number"},
        BadCase{"NotANumber", [] { Epochs(std::nan("")); },
                "Epochs: the amount is nan, want at least 0"},
        BadCase{"ZeroPeriod", [] { Every(Seconds(0)); },
                "Every: the period is 0 seconds, want more than 0"},
        BadCase{"HalfEpoch", [] { Every(Epochs(0.5)); },
                "Every: 0.5 epochs is not a whole number, and epochs are due "
                "at their ends"},
        BadCase{"PointZero", [] { At(Batches({0, 5})); },
                "Batches: a point is 0, want more than 0"},
        BadCase{"HalfEpochPoint", [] { At(Epochs({1, 1.5})); },
                "At: 1.5 epochs is not a whole number, and epochs are due at "
                "their ends"},
        BadCase{"NoPoints", [] { Samples(std::vector<int64_t>()); },
                "Samples: the list of points is empty"},
        BadCase{"NoPointsGiven", [] { At(Points()); },
                "At: the list of points is empty"},
        BadCase{"NoFunction", [] { When(nullptr); },
                "When: there is no function"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trainyard

#include "tracking/sinks/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;

TEST(HistogramTest, CountsIntoBucketsOfEqualWidth) {
  const std::vector<float> values = {0, 1, 1, 2, 3, 4, NAN, INFINITY};
  const tracking::Histogram histogram = MakeHistogram("w", values, 4);
  EXPECT_EQ(histogram.name, "w");
  EXPECT_EQ(histogram.min, 0);
  EXPECT_EQ(histogram.max, 4);
  EXPECT_EQ(histogram.count, 6);
  EXPECT_EQ(histogram.sum, 11);
  EXPECT_EQ(histogram.sum_of_squares, 31);
  EXPECT_THAT(histogram.upper_limits, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(histogram.counts, ElementsAre(3, 1, 1, 1));
}

TEST(HistogramTest, OneValueOrNoneHasOneBucket) {
  const std::vector<float> same = {0.1F, 0.1F};
  EXPECT_THAT(MakeHistogram("w", same).counts, ElementsAre(2));
  EXPECT_THAT(MakeHistogram("w", {}).counts, ElementsAre(0));
}

TEST(HistogramTest, RefusesNoBuckets) {
  EXPECT_THROW(MakeHistogram("w", {}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

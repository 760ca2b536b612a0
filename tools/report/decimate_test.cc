#include "tools/report/decimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::NanSensitiveDoubleEq;

TEST(DecimateTest, LeavesFewPointsAsTheyAre) {
  const Series series{.steps = {1, 2}, .times = {5, 6}, .values = {0.5, 0.25}};
  const Decimated line = Decimate(series, 2);
  EXPECT_THAT(line.steps, ElementsAre(1, 2));
  EXPECT_THAT(line.means, ElementsAre(0.5, 0.25));
  EXPECT_THAT(line.lows, IsEmpty());
  EXPECT_THAT(Decimate({}, 2).steps, IsEmpty());
}

TEST(DecimateTest, MergesNeighboursAndKeepsTheirExtremes) {
  const Series series{.steps = {1, 2, 3, 4, 5},
                      .times = {1, 2, 3, 4, 5},
                      .values = {1, 3, 10, -10, NAN}};
  const Decimated line = Decimate(series, 2);
  EXPECT_THAT(line.steps, ElementsAre(2, 5));
  EXPECT_THAT(line.means, ElementsAre(2, DoubleEq(0)));
  EXPECT_THAT(line.lows, ElementsAre(1, -10));
  EXPECT_THAT(line.highs, ElementsAre(3, 10));
}

TEST(DecimateTest, WhatIsNotFiniteIsAGap) {
  const Series series{
      .steps = {1, 2}, .times = {1, 2}, .values = {NAN, INFINITY}};
  EXPECT_THAT(Decimate(series, 1).means,
              ElementsAre(NanSensitiveDoubleEq(NAN)));
}

TEST(DecimateTest, TimesNeverFall) {
  const Series series{
      .steps = {1, 2, 3}, .times = {5, 4, 6}, .values = {1, 1, 1}};
  EXPECT_THAT(Decimate(series, 3).times, ElementsAre(5, 5, 6));
}

}  // namespace
}  // namespace trainyard

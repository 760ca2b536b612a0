#include "tracking/scores/score_average.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ScoreAverageTest, HeaderExample) {
  const ClassScores scores = {{"cat", 1, 2}, {"dog", 0.5, 6}};
  AverageScores(scores, ScoreAverage::kMacro);
  EXPECT_THAT(AverageScores(scores, ScoreAverage::kMacro),
              ElementsAre(Pair("", 0.75)));
  EXPECT_THAT(AverageScores(scores, ScoreAverage::kWeighted),
              ElementsAre(Pair("", 0.625)));
  EXPECT_THAT(AverageScores(scores, ScoreAverage::kPositive),
              ElementsAre(Pair("", 0.5)));
  EXPECT_THAT(AverageScores(scores, ScoreAverage::kPerClass),
              ElementsAre(Pair("cat", 1), Pair("dog", 0.5)));
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { AverageScores(scores, ScoreAverage::kMicro); }),
              HasSubstr("micro is not an average"));
}

TEST(ScoreAverageTest, LeavesOutUndefinedClasses) {
  const ClassScores scores = {{"a", kNan, 5}, {"b", 0.5, 1}, {"c", 1, 3}};
  EXPECT_THAT(AverageScores(scores, ScoreAverage::kMacro),
              ElementsAre(Pair("", 0.75)));
  EXPECT_THAT(AverageScores(scores, ScoreAverage::kWeighted),
              ElementsAre(Pair("", 0.875)));
  EXPECT_TRUE(std::isnan(
      AverageScores({{"a", kNan, 5}}, ScoreAverage::kWeighted).at("")));
  EXPECT_THAT(
      AverageScores({{"a", 1, 0}, {"b", 0, 0}}, ScoreAverage::kWeighted),
      ElementsAre(Pair("", 0.5)));
}

TEST(ScoreAverageTest, DefaultFollowsTheNumberOfClasses) {
  EXPECT_EQ(AverageOf({}, 2, "F1"), ScoreAverage::kPositive);
  EXPECT_EQ(AverageOf({}, 3, "F1"), ScoreAverage::kMacro);
  EXPECT_EQ(AverageOf(ScoreAverage::kMicro, 2, "F1"), ScoreAverage::kMicro);
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [] { AverageOf(ScoreAverage::kPositive, 3, "F1"); }),
              HasSubstr("F1: average is \"positive\", which is for two "
                        "classes, and the outputs have 3"));
}

TEST(ScoreAverageTest, ClassesHaveNamesOrNumbers) {
  EXPECT_THAT(ClassKeys({}, 2, "F1"), ElementsAre("0", "1"));
  EXPECT_THAT(ClassKeys({"cat", "dog"}, 2, "F1"), ElementsAre("cat", "dog"));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([] { ClassKeys({"cat"}, 2, "F1"); }),
      HasSubstr("F1: class_names has 1 names, and the outputs have 2 classes"));
}

}  // namespace
}  // namespace trainyard

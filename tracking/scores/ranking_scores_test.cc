#include "tracking/scores/ranking_scores.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

ReducedValues Values(const SupervisedMetric& metric, const at::Tensor& outputs,
                     const at::Tensor& target) {
  const auto reducer = metric.reducer();
  reducer->Add(metric.of_batch(outputs, target), 1);
  return reducer->Result(reducer->Partial());
}

TEST(RankingScoresTest, TieCountsHalf) {
  const at::Tensor outputs = at::tensor({3.f, 2.f, 2.f, 1.f});
  const at::Tensor target = at::tensor({1, 1, 0, 0}, at::kLong);
  EXPECT_THAT(Values(AucRoc(), outputs, target), ElementsAre(Pair("", 0.875)));
  // As BinaryCrossEntropy takes it.
  EXPECT_THAT(Values(AucRoc(), outputs.reshape({4, 1}),
                     target.to(at::kFloat).reshape({4, 1})),
              ElementsAre(Pair("", 0.875)));
}

// Class 1's larger logit is the smaller probability.
TEST(RankingScoresTest, LogitsBecomeProbabilities) {
  const at::Tensor outputs =
      at::tensor({9.f, 2.f, 0.f, 0.f, 1.f, 0.f}).reshape({2, 3});
  const at::Tensor target = at::tensor({0, 1}, at::kLong);
  const auto of_class_1 = [&](bool from_logits) {
    return Values(AucRoc({.average = ScoreAverage::kPerClass,
                          .from_logits = from_logits,
                          .class_names = {"a", "b", "c"}}),
                  outputs, target)
        .at("b");
  };
  EXPECT_EQ(of_class_1(true), 1);
  EXPECT_EQ(of_class_1(false), 0);
}

TEST(RankingScoresTest, NamesWhatIsWrong) {
  const at::Tensor target = at::tensor({0, 1}, at::kLong);
  const auto error = [&](const SupervisedMetric& metric,
                         const at::Tensor& outputs, const at::Tensor& truth) {
    return ErrorOf<c10::ValueError>([&] { Values(metric, outputs, truth); });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error(AucRoc(), at::tensor({1.f, nan}), target),
              HasSubstr("AucRoc: a score is NaN"));
  EXPECT_THAT(error(AucRoc(), at::zeros({2, 3}), at::tensor({0, 3})),
              HasSubstr("a target is 3, not a class number from 0 to 2"));
  EXPECT_THAT(error(AveragePrecision(), at::zeros({2}), at::tensor({0, 2})),
              HasSubstr("AveragePrecision: a target is 2, not a class number "
                        "from 0 to 1"));
  EXPECT_THAT(error(AucRoc(), at::zeros({2, 3, 4}), target),
              HasSubstr("outputs are [2, 3, 4] and the target is [2]"));
  EXPECT_THAT(error(AucRoc(), at::zeros({3, 3}), target),
              HasSubstr("outputs are [3, 3] and the target is [2]"));
  EXPECT_THAT(
      error(AucRoc({.average = ScoreAverage::kMacro}), at::zeros({2}), target),
      HasSubstr("average is \"macro\", which needs outputs with one column "
                "per class"));
}

}  // namespace
}  // namespace trainyard

#include "tracking/scores/class_scores.h"

#include <ATen/ops/full.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

at::Tensor Outputs(std::vector<int64_t> predicted, int64_t classes) {
  return at::one_hot(at::tensor(predicted), classes).to(at::kFloat);
}

// Six cats and dogs, each with a logit for "dog".
const std::vector<float> kLogits = {2, -1, 0.5, -3, 1, 0};
const std::vector<int64_t> kDogs = {1, 0, 0, 1, 1, 1};

TEST(ClassScoresTest, OneColumnIsComparedWithTheThreshold) {
  const at::Tensor target = at::tensor(kDogs);
  // Predicted: 1 0 1 0 1 0.
  for (const at::Tensor& outputs :
       {at::tensor(kLogits), at::tensor(kLogits).reshape({6, 1})}) {
    EXPECT_THAT(Values(Precision(), outputs, target),
                ElementsAre(Pair("", 2.0 / 3)));
    EXPECT_THAT(Values(Recall(), outputs, target), ElementsAre(Pair("", 0.5)));
    // Predicted: 1 0 0 0 0 0.
    EXPECT_THAT(Values(Recall({.threshold = 1}), outputs, target),
                ElementsAre(Pair("", 0.25)));
  }
  // As BinaryCrossEntropy takes it.
  EXPECT_THAT(Values(Recall(), at::tensor(kLogits).reshape({6, 1}),
                     target.to(at::kFloat).reshape({6, 1})),
              ElementsAre(Pair("", 0.5)));
}

TEST(ClassScoresTest, ConfusionMatrixCountsTrueBeforePredicted) {
  EXPECT_THAT(Values(ConfusionMatrix({.class_names = {"cat", "dog"}}),
                     at::tensor(kLogits), at::tensor(kDogs)),
              ElementsAre(Pair("cat_cat", 1), Pair("cat_dog", 1),
                          Pair("dog_cat", 2), Pair("dog_dog", 2)));
  EXPECT_THAT(Values(ConfusionMatrix({.threshold = 10}), at::tensor(kLogits),
                     at::tensor(kDogs)),
              ElementsAre(Pair("0_0", 2), Pair("0_1", 0), Pair("1_0", 4),
                          Pair("1_1", 0)));
}

TEST(ClassScoresTest, PixelsAreRecords) {
  // Two images of two by one pixels, three classes.
  const at::Tensor outputs =
      Outputs({0, 1, 2, 2}, 3).reshape({2, 2, 1, 3}).permute({0, 3, 1, 2});
  const at::Tensor target =
      at::tensor({0, 2, 2, 1}, at::kLong).reshape({2, 2, 1});
  EXPECT_THAT(
      Values(Recall({.average = ScoreAverage::kPerClass}), outputs, target),
      ElementsAre(Pair("0", 1), Pair("1", 0), Pair("2", 0.5)));
}

TEST(ClassScoresTest, IgnoredTargetsDoNotCount) {
  const at::Tensor outputs = Outputs({0, 1, 2, 1}, 3);
  const at::Tensor target = at::tensor({0, 1, -100, 2}, at::kLong);
  const ClassScoreOptions options{.average = ScoreAverage::kPerClass,
                                  .ignore_target = -100};
  EXPECT_THAT(Values(Precision(options), outputs, target),
              ElementsAre(Pair("0", 1), Pair("1", 0.5), Pair("2", 0)));
  const ReducedValues matrix =
      Values(ConfusionMatrix({.ignore_target = -100}), outputs, target);
  double sum = 0;
  for (const auto& [key, value] : matrix) sum += value;
  EXPECT_EQ(sum, 3);
}

TEST(ClassScoresTest, InvalidTargetsAreCountedInTheError) {
  const at::Tensor outputs = Outputs({0, 1, 2, 1}, 3);
  const at::Tensor target = at::tensor({0, 3, -1, 2}, at::kLong);
  for (const SupervisedMetric& metric :
       {F1(), Precision(), Recall(), ConfusionMatrix()}) {
    EXPECT_THAT(
        ErrorOf<c10::ValueError>([&] { Values(metric, outputs, target); }),
        HasSubstr("2 targets are not class numbers from 0 to 2"));
  }
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { Values(F1({.ignore_target = -1}), outputs, target); }),
              HasSubstr("1 targets are not"));
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                Values(F1(), at::tensor(kLogits), at::full({6}, 0.5));
              }),
              HasSubstr("6 targets are not class numbers from 0 to 1"));
}

TEST(ClassScoresTest, NamesWhatIsWrong) {
  EXPECT_THAT(ErrorOf<c10::ValueError>([] {
                Values(F1(), at::zeros({4, 3}), at::zeros({5}, at::kLong));
              }),
              HasSubstr("F1: outputs are [4, 3] and the target is [5]"));
  EXPECT_THAT(ErrorOf<c10::ValueError>([] {
                Values(F1(), at::zeros({4, 3}), at::zeros({4, 1}, at::kLong));
              }),
              HasSubstr("F1: outputs are [4, 3] and the target is [4, 1]"));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([] { Precision({.zero_division = 0.5}); }),
      HasSubstr("Precision: zero_division is 0.5; it must be 0, 1 or NaN"));
}

}  // namespace
}  // namespace trainyard

#include "trainer/losses.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

at::Tensor Logits() {
  return at::tensor({1.0F, 2.0F, 3.0F, 0.0F, 0.0F, 0.0F}).view({2, 3});
}

TEST(CrossEntropyTest, IsTheMeanOfMinusLogProbabilities) {
  const double first =
      std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - 3;
  const double second = std::log(3.0);
  EXPECT_NEAR(
      CrossEntropy()(Logits(), at::tensor({2, 0}, at::kLong)).item<double>(),
      (first + second) / 2, 1e-6);
}

TEST(CrossEntropyTest, SmoothingMovesWeightToAllClasses) {
  const double sum = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0));
  const double first = 0.9 * (sum - 3) + 0.1 * (3 * sum - 6) / 3;
  const double second = std::log(3.0);
  EXPECT_NEAR(
      CrossEntropy(0.1)(Logits(), at::tensor({2, 0}, at::kLong)).item<double>(),
      (first + second) / 2, 1e-6);
  EXPECT_THROW(CrossEntropy(-0.1), c10::ValueError);
  EXPECT_THROW(CrossEntropy(1.1), c10::ValueError);
}

TEST(AccuracyTest, IsTheShareOfRightRows) {
  const at::Tensor logits =
      at::tensor({1.0F, 2.0F, 5.0F, 4.0F, 0.0F, 9.0F, 3.0F, 1.0F}).view({4, 2});
  EXPECT_EQ(
      Accuracy()(logits, at::tensor({1, 0, 0, 0}, at::kLong)).item<double>(),
      0.75);
}

TEST(TopKAccuracyTest, CountsTargetsAmongTheBest) {
  const at::Tensor target = at::tensor({1, 0}, at::kLong);  // second, and a tie
  EXPECT_EQ(
      TopKAccuracy(1)(Logits(), at::tensor({1, 0}, at::kLong)).item<double>(),
      Accuracy()(Logits(), target).item<double>());
  EXPECT_EQ(TopKAccuracy(2)(Logits().narrow(0, 0, 1), target.narrow(0, 0, 1))
                .item<double>(),
            1);
  EXPECT_EQ(TopKAccuracy(3)(Logits(), target).item<double>(), 1);
  EXPECT_THROW(TopKAccuracy(0), c10::ValueError);
  EXPECT_THROW(TopKAccuracy(4)(Logits(), target), c10::ValueError);
}

TEST(MeanSquaredErrorTest, IsTheMeanOverAllElements) {
  const at::Tensor target = at::tensor({1.0F, 2.0F, 3.0F, 0.0F, 0.0F, 6.0F});
  EXPECT_EQ(MeanSquaredError()(Logits(), target.view({2, 3})).item<double>(),
            6);
  EXPECT_THROW(MeanSquaredError()(Logits(), target), c10::ValueError);
}

TEST(BinaryCrossEntropyTest, IsTheMeanOfMinusLogProbabilities) {
  const at::Tensor logits = at::tensor({0.0F, 2.0F});
  const at::Tensor target = at::tensor({1.0F, 0.0F});
  const double expected = (std::log(2.0) + std::log(1 + std::exp(2.0))) / 2;
  EXPECT_NEAR(BinaryCrossEntropy()(logits, target).item<double>(), expected,
              1e-6);
  EXPECT_THROW(BinaryCrossEntropy()(logits, at::tensor({1.0F})),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

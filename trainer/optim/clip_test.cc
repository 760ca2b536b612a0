#include "trainer/optim/clip.h"

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

at::Device Device() { return at::Device(TestDevice()); }

std::vector<at::Tensor> Gradients() {
  return {at::tensor({3.0F, 0.0F}, Device()),
          at::tensor({-4.0F}, Device()).view({1, 1})};
}

TEST(ClipTest, NormIsOverAllGradientsTogether) {
  EXPECT_FLOAT_EQ(GradientNorm(Gradients()).item<float>(), 5.0F);
  EXPECT_EQ(GradientNorm({}).item<float>(), 0.0F);
}

TEST(ClipTest, NormMatchesAtenForAnySizeTypeAndLayout) {
  at::manual_seed(1);
  for (const int64_t size : {1, 31, 32, 33, 1000, 16384, 16385, 100003}) {
    const at::Tensor gradient =
        at::randn({size}, at::device(Device()).dtype(at::kDouble));
    const double norm = at::linalg_vector_norm(gradient, 2).item<double>();
    EXPECT_NEAR(GradientNorm({gradient}).item<double>(), norm, 1e-12 * norm);
    EXPECT_NEAR(GradientNorm({gradient.to(at::kFloat)}).item<double>(), norm,
                1e-6 * norm)
        << size;
  }
  const at::Tensor every_second = at::ones({8}, Device()).slice(0, 0, 8, 2);
  EXPECT_FLOAT_EQ(GradientNorm({every_second}).item<float>(), 2);
}

TEST(ClipTest, ANanNormStaysNan) {
  const at::Tensor gradient = at::ones({32}, Device());
  gradient[20].fill_(std::nan(""));
  EXPECT_TRUE(std::isnan(GradientNorm({gradient}).item<float>()));
}

TEST(ClipTest, NormScalesAllGradientsAlike) {
  const auto gradients = Gradients();
  ClipGradients(gradients, ClipNorm(1.0));
  EXPECT_TRUE(at::allclose(gradients[0], at::tensor({0.6F, 0.0F}, Device())));
  EXPECT_TRUE(
      at::allclose(gradients[1], at::tensor({-0.8F}, Device()).view({1, 1})));
}

TEST(ClipTest, SmallGradientsAreNotChanged) {
  const auto gradients = Gradients();
  ClipGradients(gradients, ClipNorm(5.1));
  EXPECT_TRUE(at::equal(gradients[0], at::tensor({3.0F, 0.0F}, Device())));
  ClipGradients(gradients, {});
  EXPECT_TRUE(at::equal(gradients[0], at::tensor({3.0F, 0.0F}, Device())));
}

TEST(ClipTest, ValueLimitsEachElement) {
  const auto gradients = Gradients();
  ClipGradients(gradients, ClipValue(3.5));
  EXPECT_TRUE(at::equal(gradients[0], at::tensor({3.0F, 0.0F}, Device())));
  EXPECT_TRUE(
      at::equal(gradients[1], at::tensor({-3.5F}, Device()).view({1, 1})));
}

TEST(ClipTest, AFunctionGetsTheGradients) {
  const auto gradients = Gradients();
  ClipGradients(gradients, ClipWith([](const std::vector<at::Tensor>& all) {
                  all[0].zero_();
                }));
  EXPECT_EQ(gradients[0].sum().item<float>(), 0.0F);
}

TEST(ClipTest, DivisorIncludesAnEarlierDivision) {
  const at::Tensor norm = at::tensor(50.0F, Device());
  EXPECT_NEAR(ClippingDivisor(norm, 10, 1).item<double>(), 50,
              1e-4);  // 5 after division, so 10 * 5
  EXPECT_NEAR(ClippingDivisor(norm, 10, 6).item<double>(), 10,
              1e-6);  // 5 is below the limit
  EXPECT_TRUE(
      std::isnan(ClippingDivisor(at::tensor(std::nanf(""), Device()), 1, 1)
                     .item<double>()));
}

TEST(ClipTest, DivisorIsTheSameWithoutAGivenNorm) {
  for (const double limit : {0.5, 1.0, 7.0}) {
    EXPECT_FLOAT_EQ(
        ClippingDivisor(Gradients(), 2, limit).item<float>(),
        ClippingDivisor(GradientNorm(Gradients()), 2, limit).item<float>());
  }
}

TEST(ClipTest, DivisorIsUndefinedIfNothingIsDivided) {
  if (!Device().is_cpu()) GTEST_SKIP() << "only the CPU knows without a wait";
  const double norm = GradientNorm(Gradients()).item<double>();
  EXPECT_FALSE(ClippingDivisor(Gradients(), 1, norm + 1).defined());
  EXPECT_TRUE(ClippingDivisor(Gradients(), 1, norm - 1).defined());
  EXPECT_TRUE(ClippingDivisor(Gradients(), 2, norm + 1).defined());
}

TEST(ClipTest, RejectsBadLimits) {
  for (const double limit :
       {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(ClipNorm(limit), c10::ValueError) << limit;
    EXPECT_THROW(ClipValue(limit), c10::ValueError) << limit;
  }
  EXPECT_THROW(ClipWith(nullptr), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

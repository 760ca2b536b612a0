#include "backends/autocast.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

at::Device Device() { return at::Device(TestDevice()); }

at::ScalarType ProductType(const at::Tensor& a) {
  return at::matmul(a, a).scalar_type();
}

TEST(AutocastTest, HeaderExample) {
  const at::Tensor weight = at::ones({2, 2}).requires_grad_();
  const at::Tensor input = at::ones({2, 2});
  const at::Tensor target = at::ones({2, 2});
  at::Tensor loss;
  {
    const Autocast autocast(at::kCPU, at::kBFloat16);
    loss = at::mse_loss(at::matmul(weight, input), target);
  }
  loss.backward();
  EXPECT_EQ(loss.item<float>(), 1);
  EXPECT_EQ(weight.grad().scalar_type(), at::kFloat);
}

TEST(AutocastTest, ComputesInHalfPrecisionWhereItIsSafe) {
  const at::Tensor a = at::ones({2, 2}, Device());
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const Autocast autocast(Device().type(), dtype);
    EXPECT_EQ(ProductType(a), dtype);
    EXPECT_EQ(at::mse_loss(at::matmul(a, a), a).scalar_type(), at::kFloat);
  }
  EXPECT_EQ(ProductType(a), at::kFloat);
}

TEST(AutocastTest, InnerObjectWins) {
  const at::Tensor a = at::ones({2, 2}, Device());
  const Autocast outer(Device().type(), at::kHalf);
  {
    const Autocast off(Device().type(), at::kHalf, /*enabled=*/false);
    EXPECT_EQ(ProductType(a), at::kFloat);
    const Autocast inner(Device().type(), at::kBFloat16);
    EXPECT_EQ(ProductType(a), at::kBFloat16);
  }
  EXPECT_EQ(ProductType(a), at::kHalf);
}

// Within a pass a weight is cast once; the next pass must see its update.
TEST(AutocastTest, SeesWeightsThatChangedBetweenPasses) {
  at::Tensor weight = at::ones({2, 2}, Device()).requires_grad_();
  const auto product = [&] {
    const Autocast autocast(Device().type(), at::kBFloat16);
    return at::matmul(at::ones({2, 2}, Device()), weight).sum().item<float>();
  };
  EXPECT_EQ(product(), 8);
  weight.detach().fill_(3);
  EXPECT_EQ(product(), 24);
}

TEST(AutocastTest, RejectsFullPrecision) {
  EXPECT_THROW(Autocast(Device().type(), at::kFloat), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

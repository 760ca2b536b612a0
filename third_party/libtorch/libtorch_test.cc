// The wheel's libraries load, compute and differentiate.
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace {

TEST(LibtorchTest, ComputesAGradient) {
  const at::Tensor x = at::ones({3}).requires_grad_();
  x.mul(x).sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 6.0F);
}

}  // namespace

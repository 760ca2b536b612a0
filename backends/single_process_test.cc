#include "backends/single_process.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

// The gradient of 3 x with respect to x, for a loss of any shape and type.
double Gradient(Backend& backend, at::IntArrayRef sizes, at::ScalarType type,
                double share) {
  const at::Tensor x = at::ones(sizes, type).set_requires_grad(true);
  backend.Backward(x.mul(3), {.share = share});
  EXPECT_EQ(x.grad().scalar_type(), type);
  return x.grad().item<double>();
}

TEST(SingleProcessTest, TheGradientIsTheShareOfTheLoss) {
  const auto backend = MakeSingleProcessBackend(at::kCPU);
  for (int i = 0; i < 2; ++i) {  // in any order
    EXPECT_EQ(Gradient(*backend, {}, at::kFloat, 1), 3);
    EXPECT_EQ(Gradient(*backend, {}, at::kFloat, 1), 3);
    EXPECT_EQ(Gradient(*backend, {}, at::kFloat, 0.5), 1.5);
    EXPECT_EQ(Gradient(*backend, {1, 1}, at::kFloat, 0.5), 1.5);
    EXPECT_EQ(Gradient(*backend, {1, 1}, at::kDouble, 0.5), 1.5);
  }
}

TEST(SingleProcessTest, AHookThatChangesTheGradientAffectsOneStep) {
  const auto backend = MakeSingleProcessBackend(at::kCPU);
  for (int step = 0; step < 2; ++step) {
    const at::Tensor x = at::ones({}).set_requires_grad(true);
    const at::Tensor loss = x.mul(3);
    loss.register_hook([](const at::Tensor& gradient) { gradient.mul_(2); });
    backend->Backward(loss, {});
    EXPECT_EQ(x.grad().item<double>(), 6) << step;
  }
}

TEST(SingleProcessTest, ALeafLossGetsAGradientOfItsOwn) {
  const auto backend = MakeSingleProcessBackend(at::kCPU);
  for (int step = 0; step < 2; ++step) {
    const at::Tensor x = at::ones({}).set_requires_grad(true);
    backend->Backward(x, {});
    backend->Backward(x, {});
    EXPECT_EQ(x.grad().item<double>(), 2) << step;
  }
}

}  // namespace
}  // namespace trainyard

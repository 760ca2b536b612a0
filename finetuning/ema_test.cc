#include "finetuning/ema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

namespace trainyard {
namespace {

torch::nn::Sequential Model() {
  return torch::nn::Sequential(torch::nn::Linear(3, 2),
                               torch::nn::BatchNorm1d(2));
}

at::Tensor Find(const Ema& ema, const std::string& name) {
  for (const NamedTensor& item : ema.State()) {
    if (item.name == name) return item.tensor;
  }
  return {};
}

void Disturb(torch::nn::Sequential& model) {
  const at::NoGradGuard no_gradients;
  for (const at::Tensor& parameter : model->parameters()) {
    parameter.add_(at::randn(parameter.sizes()));
  }
  model->train();
  model->forward(at::randn({4, 3}));  // moves the norm's statistics
}

TEST(EmaTest, IsTheWeightedMeanOfAllThatWas) {
  torch::nn::Sequential model = Model();
  Ema ema(*model, {.decay = 0.75});
  at::Tensor weight = model->named_parameters()["0.weight"].detach().clone();
  at::Tensor mean = model->named_buffers()["1.running_mean"].clone();
  for (int update = 0; update < 20; ++update) {
    Disturb(model);
    ema.Update();
    weight.mul_(0.75).add_(model->named_parameters()["0.weight"].detach(),
                           0.25);
    mean.mul_(0.75).add_(model->named_buffers()["1.running_mean"], 0.25);
  }
  EXPECT_EQ(ema.updates(), 20);
  EXPECT_TRUE(at::allclose(Find(ema, "0.weight"), weight, 1e-6, 1e-6));
  EXPECT_TRUE(at::allclose(Find(ema, "1.running_mean"), mean, 1e-6, 1e-6));
  EXPECT_EQ(Find(ema, "1.num_batches_tracked").item<int64_t>(), 20);
}

TEST(EmaTest, SwapExchangesAndPutsBack) {
  torch::nn::Sequential model = Model();
  Ema ema(*model, {.decay = 0.5});
  Disturb(model);
  ema.Update();
  const at::Tensor live = model->named_parameters()["0.weight"];
  const at::Tensor own = live.detach().clone();
  const at::Tensor average = Find(ema, "0.weight").clone();
  {
    const Ema::Swap swapped(ema);
    EXPECT_TRUE(at::equal(live, average));
    EXPECT_THROW(ema.Update(), c10::Error);
    EXPECT_THROW(Ema::Swap{ema}, c10::Error);
  }
  EXPECT_TRUE(at::equal(live, own));
  EXPECT_TRUE(at::equal(Find(ema, "0.weight"), average));
}

TEST(EmaTest, ResetStartsFromTheModel) {
  torch::nn::Sequential model = Model();
  Ema ema(*model);
  Disturb(model);
  ema.Update();
  ema.Reset();
  EXPECT_EQ(ema.updates(), 0);
  EXPECT_TRUE(
      at::equal(Find(ema, "0.weight"), model->named_parameters()["0.weight"]));
}

TEST(EmaTest, LeavesGradientsAlone) {
  torch::nn::Sequential model = Model();
  Ema ema(*model);
  const at::Tensor weight = model->named_parameters()["0.weight"];
  weight.sum().backward();
  ema.Update();
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_TRUE(weight.grad().defined());
  EXPECT_FALSE(Find(ema, "0.weight").requires_grad());
}

}  // namespace
}  // namespace trainyard

#include "finetuning/ema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tools/launch/testing/test_rank.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

at::Device Device() { return at::Device(TestDevice()); }

TestSequential Model() {
  TestSequential model{TestLinear(3, 2), TestBatchNorm1d(2)};
  model->to(Device());
  return model;
}

at::Tensor Find(const Ema& ema, const std::string& name) {
  for (const NamedTensor& item : ema.NamedTensors()) {
    if (item.name == name) return item.tensor;
  }
  return {};
}

void Disturb(TestSequential& model, at::ScalarType type = at::kFloat) {
  const at::NoGradGuard no_gradients;
  for (const at::Tensor& parameter : model->parameters()) {
    parameter.add_(
        at::randn(parameter.sizes(), at::device(Device()).dtype(type)));
  }
  model->train();
  model->forward(at::randn({4, 3}, at::device(Device()).dtype(
                                       type)));  // moves the norm's statistics
}

TEST(EmaTest, IsTheWeightedMeanOfAllValues) {
  TestSequential model = Model();
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

TEST(EmaTest, SwapExchangesForItsLifetime) {
  TestSequential model = Model();
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

TEST(ModelAverageTest, HeaderExample) {
  TestSequential model = Model();
  Ema ema(*model, {.decay = 0.5});
  ModelAverage& average = ema;
  Disturb(model);
  const at::Tensor own = model["0.weight"].detach().clone();
  at::Tensor evaluated;
  const auto Evaluate = [&](torch::nn::Module&) {
    evaluated = model["0.weight"].detach().clone();
  };
  {
    const ModelAverage::Swap swapped(average);
    Evaluate(*model);
  }
  EXPECT_FALSE(at::equal(evaluated, own));
  EXPECT_TRUE(at::equal(model["0.weight"], own));
}

TEST(EmaTest, ResetStartsFromTheModel) {
  TestSequential model = Model();
  Ema ema(*model);
  Disturb(model);
  ema.Update();
  ema.Reset();
  EXPECT_EQ(ema.updates(), 0);
  EXPECT_TRUE(
      at::equal(Find(ema, "0.weight"), model->named_parameters()["0.weight"]));
}

TEST(EmaTest, DoesNotChangeGradients) {
  TestSequential model = Model();
  Ema ema(*model);
  const at::Tensor weight = model->named_parameters()["0.weight"];
  weight.sum().backward();
  ema.Update();
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_TRUE(weight.grad().defined());
  EXPECT_FALSE(Find(ema, "0.weight").requires_grad());
}

TEST(EmaTest, ResumesFromItsState) {
  TestSequential model = Model();
  const EmaDecayOptions options = {.decay = 0.9, .warmup = EmaWarmup::kRamp};
  Ema ema(*model, options);
  for (int update = 0; update < 3; ++update) {
    Disturb(model);
    ema.Update();
  }
  TestSequential other = Model();
  Ema resumed(*other, options);
  resumed.LoadState(ema.SaveState());
  {
    const at::NoGradGuard no_gradients;
    for (const auto& item : model->named_parameters()) {
      other->named_parameters()[item.key()].copy_(item.value());
    }
    for (const auto& item : model->named_buffers()) {
      other->named_buffers()[item.key()].copy_(item.value());
    }
  }
  ema.Update();
  resumed.Update();
  EXPECT_EQ(resumed.updates(), 4);
  for (const NamedTensor& item : ema.NamedTensors()) {
    EXPECT_TRUE(at::equal(Find(resumed, item.name), item.tensor)) << item.name;
  }
}

TEST(EmaTest, RejectsTheStateOfAnotherModel) {
  TestSequential model = Model();
  Ema ema(*model);
  TestSequential wide{TestLinear(4, 2), TestBatchNorm1d(2)};
  TestSequential less{TestLinear(3, 2)};
  EXPECT_THROW(Ema(*wide).LoadState(ema.SaveState()), c10::ValueError);
  EXPECT_THROW(Ema(*less).LoadState(ema.SaveState()), c10::ValueError);
  EXPECT_THROW(ema.LoadState(Ema(*less).SaveState()), std::invalid_argument);
  const Ema::Swap swapped(ema);
  EXPECT_THROW(ema.SaveState(), c10::Error);
}

// Without a GPU, "meta" is the only other device. It has shapes and no values.
TEST(EmaTest, CanBeOnAnotherDevice) {
  TestSequential model = Model();
  Ema ema(*model, {.decay = 0.5}, at::Device(at::kMeta));
  ema.Update();
  for (const NamedTensor& item : ema.NamedTensors()) {
    EXPECT_EQ(item.tensor.device(), at::Device(at::kMeta)) << item.name;
  }
  EXPECT_EQ(model->named_parameters()["0.weight"].device(), Device());
}

// A type stands for a device: modules move to both in the same way.
TEST(EmaTest, FollowsAModelThatMoves) {
  TestSequential model = Model();
  Ema ema(*model, {.decay = 0.5});
  const at::Tensor before = Find(ema, "0.weight").to(at::kDouble);
  model->to(at::kDouble);
  Disturb(model, at::kDouble);
  ema.Update();
  const at::Tensor now = model->named_parameters()["0.weight"].detach();
  EXPECT_TRUE(at::allclose(Find(ema, "0.weight"), before.add(now).div(2), 1e-12,
                           1e-12));
}

// An average is made before the model moves to the device of its backend.
TEST(EmaTest, FollowsAModelToTheDevice) {
  TestSequential model{TestLinear(3, 2), TestBatchNorm1d(2)};
  Ema ema(*model, {.decay = 0.5});
  const at::Tensor before = Find(ema, "0.weight").clone().to(Device());
  model->to(Device());
  Disturb(model);
  ema.Update();
  const at::Tensor now = model->named_parameters()["0.weight"].detach();
  EXPECT_EQ(Find(ema, "0.weight").device(), Device());
  EXPECT_TRUE(
      at::allclose(Find(ema, "0.weight"), before.add(now).div(2), 1e-6, 1e-6));
}

// It needs no memory of the device.
TEST(EmaTest, CanStayOnTheCpu) {
  TestSequential model = Model();
  Ema ema(*model, {.decay = 0.5}, at::Device(at::kCPU));
  const at::Tensor before = Find(ema, "0.weight").clone();
  Disturb(model);
  ema.Update();
  const at::Tensor now = model->named_parameters()["0.weight"].detach().cpu();
  EXPECT_TRUE(Find(ema, "0.weight").is_cpu());
  EXPECT_TRUE(
      at::allclose(Find(ema, "0.weight"), before.add(now).div(2), 1e-6, 1e-6));
  EXPECT_EQ(Find(ema, "1.num_batches_tracked").item<int64_t>(), 1);
}

}  // namespace
}  // namespace trainyard

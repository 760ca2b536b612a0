// Includes torch::nn: a TestModule is compared with the module it stands for.
#include "trainer/testing/modules.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <stdexcept>

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// `make` and `make_nn` from the same seed are the same type with the same
// tensors, and compute the same.
template <class Make, class MakeNn>
void ExpectSame(const Make& make, const MakeNn& make_nn,
                const at::Tensor& input) {
  at::manual_seed(3);
  const auto module = make();
  at::manual_seed(3);
  auto nn = make_nn();
  EXPECT_EQ(module->name(), nn->name());
  ASSERT_EQ(module->parameters().size(), nn->parameters().size());
  for (const auto& item : nn->named_parameters()) {
    EXPECT_TRUE(at::equal(module[item.key()], item.value())) << item.key();
  }
  ASSERT_EQ(module->named_buffers().size(), nn->named_buffers().size());
  for (const auto& item : nn->named_buffers()) {
    EXPECT_TRUE(at::equal(module[item.key()], item.value())) << item.key();
  }
  at::manual_seed(4);
  const at::Tensor outputs = module->forward(input);
  at::manual_seed(4);
  EXPECT_TRUE(at::equal(outputs, nn->forward(input)));
}

TEST(ModulesTest, AreThoseOfTorch) {
  const at::Tensor rows = at::randn({4, 6});
  ExpectSame([] { return TestLinear(6, 2); },
             [] { return torch::nn::Linear(6, 2); }, rows);
  ExpectSame(
      [] { return TestConv2d(2, 3, 3, /*padding=*/1); },
      [] {
        return torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 3, 3).padding(1));
      },
      at::randn({1, 2, 5, 5}));
  ExpectSame([] { return TestEmbedding(7, 3); },
             [] { return torch::nn::Embedding(7, 3); },
             at::randint(7, {4}, at::kLong));
  ExpectSame([] { return TestBatchNorm1d(6); },
             [] { return torch::nn::BatchNorm1d(6); }, rows);
  ExpectSame(
      [] { return TestLayerNorm(6); },
      [] { return torch::nn::LayerNorm(torch::nn::LayerNormOptions({6})); },
      rows);
  ExpectSame([] { return TestDropout(0.3); },
             [] { return torch::nn::Dropout(0.3); }, rows);
  ExpectSame([] { return TestReLU(); }, [] { return torch::nn::ReLU(); }, rows);
  ExpectSame([] { return TestTanh(); }, [] { return torch::nn::Tanh(); }, rows);
}

TEST(ModulesTest, HeaderExample) {
  at::manual_seed(3);
  const TestSequential model{TestLinear(3, 4), TestBatchNorm1d(4)};
  at::manual_seed(3);
  torch::nn::Sequential nn(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4));
  EXPECT_NE(dynamic_cast<torch::nn::SequentialImpl*>(&*model), nullptr);
  const at::Tensor input = at::randn({5, 3});
  model->forward(input).square().sum().backward();
  nn->forward(input).square().sum().backward();
  EXPECT_TRUE(at::equal(model["0.weight"].grad(),
                        nn->named_parameters()["0.weight"].grad()));
  EXPECT_TRUE(at::equal(model["1.running_mean"],
                        nn->named_buffers()["1.running_mean"]));
  EXPECT_THROW(model["2.weight"], std::out_of_range);
  EXPECT_EQ(model->children()[1]->name(), "torch::nn::BatchNorm1dImpl");
  EXPECT_THROW(model->children()[1]->forward(input), std::logic_error);
}

TEST(ModulesTest, ModesAndTypesReachAllOfIt) {
  const TestBatchNorm1d norm(2);
  const TestSequential model{TestSequential{norm, TestDropout()}};
  model->eval();
  EXPECT_FALSE(norm->is_training());
  model->train();
  EXPECT_TRUE(norm->is_training());
  model->to(at::kDouble);
  EXPECT_EQ(norm["weight"].scalar_type(), at::kDouble);
}

TEST(ModulesTest, AModuleOfTheTestsOwn) {
  const TestLinear inner(2, 2);
  const at::Tensor scale = at::ones({2}), seen = at::zeros({1});
  const TestCustom module({.type = "Scaled",
                           .children = {{"inner", inner}},
                           .parameters = {{"scale", scale}},
                           .buffers = {{"seen", seen}},
                           .forward = [=](const at::Tensor& input) {
                             return inner(input).mul(scale);
                           }});
  EXPECT_EQ(module->name(), "Scaled");
  EXPECT_THAT(module->named_parameters().keys(),
              ElementsAre("scale", "inner.weight", "inner.bias"));
  EXPECT_THAT(module->named_buffers().keys(), ElementsAre("seen"));
  EXPECT_TRUE(scale.requires_grad());
  const at::Tensor input = at::randn({3, 2});
  EXPECT_TRUE(at::equal(module(input), inner(input)));
  {
    const at::NoGradGuard no_gradients;
    module["scale"].zero_();
  }
  EXPECT_TRUE(at::equal(module(input), at::zeros({3, 2})));
  EXPECT_THROW(TestCustom({}).forward(input), std::logic_error);
}

}  // namespace
}  // namespace trainyard

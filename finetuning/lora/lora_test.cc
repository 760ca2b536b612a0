// Includes torch::nn: Lora exchanges the member `weight` of its layers, so the
// layers are members of their own types here, as a user has them.
#include "finetuning/lora/lora.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <sstream>

#include "finetuning/testing/tensor_memory.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Device Device() { return at::Device(TestDevice()); }

// Layers as members of their own types, called directly.
class NetImpl : public torch::nn::Module {
 public:
  NetImpl()
      : embedding(register_module("embedding", torch::nn::Embedding(7, 6))),
        norm(register_module(
            "norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({6})))),
        conv(register_module(
            "conv",
            torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 2, 3).padding(1)))),
        linear(register_module("linear", torch::nn::Linear(12, 5))),
        head(register_module("head", torch::nn::Linear(5, 2))) {
    to(Device());
  }
  // From 4 numbers below 7 each.
  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor image = norm(embedding(input)).unsqueeze(1);
    const at::Tensor features = conv(image).transpose(1, 2).flatten(2);
    return head(linear(features).mean(1).relu());
  }

  torch::nn::Embedding embedding;
  torch::nn::LayerNorm norm;
  torch::nn::Conv2d conv;
  torch::nn::Linear linear, head;
};
TORCH_MODULE(Net);

at::Tensor Input() {
  return at::randint(7, {3, 4}, at::device(Device()).dtype(at::kLong));
}

const LoraOptions kAll = {.targets = {"embedding", "conv", "lin*"},
                          .rank = 3,
                          .alpha = 6,
                          .also_train = {"head"}};

// As training would.
void Disturb(const Lora& lora) {
  const at::NoGradGuard no_gradients;
  for (const NamedTensor& item : lora.Parameters()) {
    item.tensor.add_(at::randn(item.tensor.sizes(), Device()), 0.1);
  }
}

std::string LoraError(torch::nn::Module& model, const LoraOptions& options) {
  return ErrorOf<c10::Error>([&] { const Lora lora(model, options); });
}

TEST(LoraTest, HeaderExample) {
  Net model;
  Lora lora(*model, {.targets = {"conv", "lin*"}, .rank = 8});
  AdamW optimizer(*model, {.lr = 1e-3});
  const at::Tensor input = Input();
  model->forward(input).sum().backward();
  optimizer.step();
  const at::Tensor adapted = model->forward(input);
  lora.Merge();
  EXPECT_TRUE(at::allclose(model->forward(input), adapted, 1e-4, 1e-5));
}

TEST(AdaptedWeightTest, HeaderExample) {
  torch::nn::Linear linear(torch::nn::LinearOptions(3, 2).bias(false));
  linear->to(Device());
  const at::Tensor weight = linear->weight.detach();
  const at::Tensor a = at::randn({1, 3}, Device()),
                   b = at::randn({2, 1}, Device());
  const at::Tensor x = at::randn({4, 3}, Device());
  linear->weight =
      AdaptedWeight({LowRankKind::kLinear, linear->weight, a, b, /*scale=*/2});
  const at::Tensor y = linear->forward(x);
  const at::Tensor expected =
      x.matmul(weight.t()).add(x.matmul(a.t()).matmul(b.t()), 2);
  EXPECT_TRUE(at::allclose(y, expected, 1e-5, 1e-6));
}

TEST(LoraTest, ChangesNothingUntilItIsTrained) {
  Net net;
  const at::Tensor input = Input();
  const at::Tensor before = net->forward(input);
  const Lora lora(*net, kAll);
  EXPECT_TRUE(at::equal(net->forward(input), before));
  EXPECT_THAT(lora.AdaptedLayers(), ElementsAre("embedding", "conv", "linear"));
}

TEST(LoraTest, ComputesAsIfTheWeightsWereChanged) {
  Net net;
  Lora lora(*net, kAll);
  Disturb(lora);
  const at::Tensor input = Input();
  const at::Tensor beside = net->forward(input);
  lora.Merge();
  EXPECT_TRUE(at::allclose(net->forward(input), beside, 1e-4, 1e-5));
}

TEST(LoraTest, UnmergingRestoresTheBits) {
  Net net;
  Lora lora(*net, kAll);
  Disturb(lora);
  std::vector<at::Tensor> before;
  for (const at::Tensor& item : net->parameters()) {
    before.push_back(item.detach().clone());
  }
  const at::Tensor input = Input(), outputs = net->forward(input);
  lora.Merge();
  EXPECT_TRUE(lora.merged());
  EXPECT_FALSE(at::equal(net->conv->weight, before[0]));
  lora.Unmerge();
  const std::vector<at::Tensor> after = net->parameters();
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_TRUE(at::equal(after[i], before[i])) << i;
  }
  EXPECT_TRUE(at::equal(net->forward(input), outputs));
}

TEST(LoraTest, OnlyAdaptersAndAlsoTrainHaveGradients) {
  Net net;
  const Lora lora(*net, kAll);
  Disturb(lora);
  net->forward(Input()).sum().backward();
  std::vector<std::string> with_gradient;
  for (const auto& item : net->named_parameters()) {
    EXPECT_EQ(item.value().requires_grad(), item.value().grad().defined());
    if (item.value().grad().defined()) with_gradient.push_back(item.key());
  }
  EXPECT_THAT(
      with_gradient,
      ElementsAre("embedding.lora_embedding_A.weight",
                  "embedding.lora_embedding_B.weight", "conv.lora_A.weight",
                  "conv.lora_B.weight", "linear.lora_A.weight",
                  "linear.lora_B.weight", "head.weight", "head.bias"));
  EXPECT_EQ(lora.Parameters().size(), 8);
}

// Against the gradient through the full matrix, which autograd works out.
TEST(LoraTest, GradientsAreThoseOfTheChangedWeight) {
  Net net;
  const Lora lora(*net, kAll);
  Disturb(lora);
  const at::Tensor a = lora.Parameters()[4].tensor;
  const at::Tensor b = lora.Parameters()[5].tensor;
  // Two and three dimensions go different ways.
  for (const at::Tensor& input :
       {at::randn({3, 12}, Device()), at::randn({1, 3, 12}, Device())}) {
    const at::Tensor weights = at::randn({3, 5}, Device());
    net->linear(input).mul(weights).sum().backward();
    const at::Tensor got_a = a.grad().clone(), got_b = b.grad().clone();
    for (const at::Tensor& tensor : {a, b}) tensor.mutable_grad().reset();
    const at::Tensor weight = net->named_parameters()["linear.weight"];
    at::linear(input, weight + b.matmul(a).mul(2), net->linear->bias)
        .mul(weights)
        .sum()
        .backward();
    EXPECT_TRUE(at::allclose(a.grad(), got_a, 1e-4, 1e-5));
    EXPECT_TRUE(at::allclose(b.grad(), got_b, 1e-4, 1e-5));
    for (const at::Tensor& tensor : {a, b}) tensor.mutable_grad().reset();
  }
}

// The change is computed beside the weight: no full matrix is ever made.
TEST(LoraTest, NeedsNoMemoryOfTheWeightsSize) {
  torch::nn::Sequential model(torch::nn::Linear(400, 400),
                              torch::nn::Embedding(3000, 20));
  model->to(Device());
  const Lora lora(*model, {.targets = {"*"}, .rank = 2});
  auto* const linear = model->ptr(0)->as<torch::nn::Linear>();
  auto* const embedding = model->ptr(1)->as<torch::nn::Embedding>();
  const at::Tensor flat = at::randn({4, 400}, Device()),
                   deep = at::randn({2, 2, 400}, Device());
  const at::Tensor tokens =
      at::randint(3000, {4}, at::device(Device()).dtype(at::kLong));
  // Gradients of the small matrices, of 3000 x 2 the largest, are made first.
  const auto pass = [&] {
    linear->forward(flat).sum().backward();
    linear->forward(deep).sum().backward();
    embedding->forward(tokens).sum().backward();
  };
  pass();
  const TensorMemory memory;
  pass();
  EXPECT_LT(memory.peak(), 400 * 400 * 4 / 4);
}

TEST(LoraTest, LearnsWithAnOrdinaryOptimizer) {
  // How far it gets does not depend on the tests before.
  at::manual_seed(1);
  Net net;
  const Lora lora(*net, kAll);
  AdamW optimizer(*net, {.lr = 0.02});
  const at::Tensor base = net->named_parameters()["linear.weight"].clone();
  const at::Tensor input = Input(), target = at::randn({3, 2}, Device());
  const auto loss = [&] {
    return net->forward(input).sub(target).square().mean();
  };
  const double before = loss().item<double>();
  for (int update = 0; update < 200; ++update) {
    optimizer.ZeroGrad();
    loss().backward();
    optimizer.step();
  }
  EXPECT_LT(loss().item<double>(), before / 4);
  EXPECT_TRUE(at::equal(net->named_parameters()["linear.weight"], base));
}

TEST(LoraTest, AnyOtherUseOfTheWeightSeesTheChange) {
  Net net;
  Lora lora(*net, kAll);
  Disturb(lora);
  const at::Tensor sum = net->linear->weight.add(0);
  const at::Tensor stacked = at::stack({net->linear->weight, sum});
  const at::Tensor tied =
      at::linear(at::randn({2, 6}, Device()), net->embedding->weight);
  EXPECT_EQ(tied.sizes(), at::IntArrayRef({2, 7}));
  EXPECT_TRUE(tied.requires_grad());
  EXPECT_EQ(net->linear->weight.sizes(), at::IntArrayRef({5, 12}));
  std::ostringstream text;
  text << net->linear->weight;
  EXPECT_THAT(text.str(), HasSubstr("{5,12}"));
  const at::NoGradGuard no_gradients;
  EXPECT_THROW(net->linear->weight.zero_(), c10::ValueError);
  lora.Merge();
  EXPECT_TRUE(at::equal(net->linear->weight, sum));
  EXPECT_TRUE(at::equal(stacked[0], sum));
}

TEST(LoraTest, WorksUnderAutocastAndInOtherTypes) {
  Net net;
  const Lora lora(*net, kAll);
  Disturb(lora);
  const at::Tensor input = at::randn({3, 12}, Device()),
                   full = net->linear(input);
  at::autocast::set_autocast_dtype(Device().type(), at::kBFloat16);
  at::autocast::set_autocast_enabled(Device().type(), true);
  const at::Tensor half = net->linear(input);
  at::autocast::set_autocast_enabled(Device().type(), false);
  at::autocast::clear_cache();
  EXPECT_EQ(half.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::allclose(half.to(at::kFloat), full, 0.05, 0.05));
  net->to(at::kDouble);
  const at::Tensor twice = net->linear(input.to(at::kDouble));
  EXPECT_TRUE(at::allclose(twice.to(at::kFloat), full, 1e-4, 1e-5));
}

TEST(LoraTest, DropoutIsForTraining) {
  Net net;
  LoraOptions options = kAll;
  options.dropout = 0.5;
  const Lora lora(*net, options);
  Disturb(lora);
  const at::Tensor input = at::randn({3, 12}, Device());
  EXPECT_FALSE(at::equal(net->linear(input), net->linear(input)));
  net->eval();
  EXPECT_TRUE(at::equal(net->linear(input), net->linear(input)));
}

TEST(LoraTest, DestructorRemovesTheAdapters) {
  Net net;
  const at::Tensor input = Input(), before = net->forward(input);
  {
    const Lora lora(*net, kAll);
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& item : lora.Parameters()) {
      if (!item.name.starts_with("head")) item.tensor.fill_(1);
    }
    EXPECT_FALSE(at::equal(net->forward(input), before));
  }
  EXPECT_TRUE(at::equal(net->forward(input), before));
  EXPECT_EQ(net->named_parameters().size(), 9);
}

TEST(LoraTest, ErrorsNameTheAlternatives) {
  Net net;
  EXPECT_THAT(LoraError(*net, {.targets = {"liner"}}),
              HasSubstr("\"liner\" in targets matches no layer; near it are "
                        "\"linear\""));
  EXPECT_THAT(LoraError(*net, {.targets = {"norm"}}),
              HasSubstr("\"norm\", a torch::nn::LayerNormImpl, which cannot be "
                        "adapted"));
  EXPECT_THAT(LoraError(*net, {}), HasSubstr("targets is empty"));
  EXPECT_THAT(LoraError(*net, {.targets = {"*"}, .rank = 0}),
              HasSubstr("rank is 0"));
  EXPECT_THAT(LoraError(*net, {.targets = {"*"}, .dropout = 1}),
              HasSubstr("dropout is 1"));
  EXPECT_THAT(LoraError(*net, {.targets = {"*"}, .also_train = {"head"}}),
              HasSubstr("\"head\" is in targets and in also_train"));
  EXPECT_THAT(LoraError(*net, {.targets = {"linear"}, .also_train = {"hat"}}),
              HasSubstr("\"hat\" in also_train matches no layer"));
  EXPECT_TRUE(net->norm->weight.requires_grad());  // nothing has changed
  Lora lora(*net, kAll);
  EXPECT_THAT(LoraError(*net, kAll), HasSubstr("has an adapter already"));
  EXPECT_THROW(lora.Unmerge(), c10::Error);
  lora.Merge();
  EXPECT_THROW(lora.Merge(), c10::Error);
}

}  // namespace
}  // namespace trainyard

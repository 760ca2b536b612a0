#include "trainer/optim/adamw.h"

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/optim/adamw.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor Parameter(at::IntArrayRef sizes) {
  return at::randn(sizes).requires_grad_();
}

at::Tensor Twin(const at::Tensor& parameter) {
  return parameter.detach().clone().requires_grad_();
}

// libtorch's own AdamW is the oracle, with the same groups and gradients.
void ExpectSameAsLibtorch(bool amsgrad, bool scheduled) {
  at::manual_seed(1);
  const std::vector<at::Tensor> body = {Parameter({4, 3}), Parameter({4})};
  const std::vector<at::Tensor> head = {Parameter({2, 4})};
  AdamW ours({{.params = {{"body.weight", body[0]}, {"body.bias", body[1]}}},
              {.params = {{"head.weight", head[0]}},
               .overrides = {{"lr", 0.02}, {"weight_decay", 0.3}}}},
             {.lr = 0.01,
              .beta1 = 0.8,
              .beta2 = 0.99,
              .eps = 1e-6,
              .weight_decay = 0.1,
              .amsgrad = amsgrad});

  const std::vector<at::Tensor> body2 = {Twin(body[0]), Twin(body[1])};
  const std::vector<at::Tensor> head2 = {Twin(head[0])};
  const auto options = torch::optim::AdamWOptions(0.01)
                           .betas({0.8, 0.99})
                           .eps(1e-6)
                           .weight_decay(0.1)
                           .amsgrad(amsgrad);
  const auto head_options =
      torch::optim::AdamWOptions(options).lr(0.02).weight_decay(0.3);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(body2);
  groups.emplace_back(
      head2, std::make_unique<torch::optim::AdamWOptions>(head_options));
  torch::optim::AdamW theirs(groups, options);

  const std::vector<std::pair<at::Tensor, at::Tensor>> pairs = {
      {body[0], body2[0]}, {body[1], body2[1]}, {head[0], head2[0]}};
  for (int update = 0; update < 200; ++update) {
    for (const auto& [a, b] : pairs) {
      const at::Tensor gradient = at::randn(a.sizes());
      a.mutable_grad() = gradient.clone();
      b.mutable_grad() = gradient.clone();
    }
    if (scheduled) {
      ours.Field(0, "lr") = 0.01 / (1 + update);
      theirs.param_groups()[0].options().set_lr(0.01 / (1 + update));
    }
    ours.step();
    theirs.step();
  }
  for (const auto& [a, b] : pairs)
    EXPECT_TRUE(at::allclose(a, b, 1e-6, 1e-6)) << (a - b).abs().max();
}

TEST(AdamWTest, SameAsLibtorch) {
  ExpectSameAsLibtorch(/*amsgrad=*/false, /*scheduled=*/false);
}
TEST(AdamWTest, SameAsLibtorchWithAmsgrad) {
  ExpectSameAsLibtorch(/*amsgrad=*/true, /*scheduled=*/false);
}
TEST(AdamWTest, SameAsLibtorchWithAScheduledField) {
  ExpectSameAsLibtorch(/*amsgrad=*/false, /*scheduled=*/true);
}

TEST(AdamWTest, DividingIsTheSameAsSmallerGradients) {
  at::manual_seed(2);
  const at::Tensor a = Parameter({5}), b = Twin(a), gradient = at::randn({5});
  AdamW plain({a}, {.lr = 0.1}), divided({b}, {.lr = 0.1});
  for (int update = 0; update < 3; ++update) {
    a.mutable_grad() = gradient / 4;
    b.mutable_grad() = gradient.clone();
    plain.step();
    divided.StepDivided(at::full({}, 4.0F));
  }
  EXPECT_TRUE(at::allclose(a, b, 1e-6, 1e-7));
}

TEST(AdamWTest, AParameterWithoutGradientStaysWithItsState) {
  const at::Tensor used = Parameter({2}), idle = Parameter({2}),
                   before = idle.detach().clone();
  AdamW optimizer({used, idle}, {.lr = 0.1});
  used.mutable_grad() = at::full({2}, 1.0F);
  optimizer.step();
  EXPECT_TRUE(at::equal(idle, before));
  EXPECT_EQ(optimizer.State()[2].tensor.item<float>(), 1.0F);  // 0/step
  EXPECT_EQ(optimizer.State()[5].tensor.item<float>(), 0.0F);  // 1/step
}

TEST(AdamWTest, StateIsNamedAndSorted) {
  const AdamW optimizer(
      {{.params = {{"w", Parameter({2})}, {"b", Parameter({3})}}}});
  std::vector<std::string> names;
  for (const NamedTensor& item : optimizer.State()) names.push_back(item.name);
  EXPECT_THAT(names, ElementsAre("b/exp_avg", "b/exp_avg_sq", "b/step",
                                 "w/exp_avg", "w/exp_avg_sq", "w/step"));
}

TEST(AdamWTest, ZeroGradLetsGoOfGradients) {
  const at::Tensor w = Parameter({2});
  AdamW optimizer({w});
  w.mutable_grad() = at::zeros({2});
  EXPECT_EQ(optimizer.Gradients().size(), 1);
  optimizer.ZeroGrad();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_TRUE(optimizer.Gradients().empty());
}

void ExpectRefused(const AdamWOptions& options, const std::string& why) {
  try {
    const AdamW optimizer({Parameter({2})}, options);
    FAIL() << "accepted, in spite of: " << why;
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(), HasSubstr(why));
  }
}

TEST(AdamWTest, RefusesBadOptionsByName) {
  ExpectRefused({.lr = -1},
                "AdamW: lr is -1; it must be a number of at least 0");
  ExpectRefused({.beta1 = 1},
                "AdamW: beta1 is 1; it must be at least 0 and less than 1");
  ExpectRefused({.beta2 = -0.1}, "AdamW: beta2 is -0.1");
  ExpectRefused({.eps = -1e-8}, "AdamW: eps is -1e-08");
  ExpectRefused({.weight_decay = NAN}, "AdamW: weight_decay is nan");
}

TEST(AdamWTest, UnknownFieldsAndGroupsAreNamed) {
  AdamW optimizer({Parameter({2})});
  try {
    optimizer.Field(0, "momentum");
    FAIL() << "AdamW had momentum";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("there is no field \"momentum\"; there are: lr, "
                          "beta1, beta2, eps, weight_decay"));
  }
  EXPECT_THROW(optimizer.Field(1, "lr"), c10::IndexError);
  EXPECT_THROW(AdamW({{.params = {{"w", Parameter({2})}},
                       .overrides = {{"momentum", 1}}}}),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

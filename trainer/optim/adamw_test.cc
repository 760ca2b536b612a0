#include "trainer/optim/adamw.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor Parameter(at::IntArrayRef sizes) {
  return at::randn(sizes).requires_grad_();
}

TEST(AdamWTest, SameAsPython) {
  ExpectSameAsPython<AdamW>("adamw", "plain",
                            AdamWOptions{.lr = 0.01,
                                         .beta1 = 0.8,
                                         .beta2 = 0.99,
                                         .eps = 1e-6,
                                         .weight_decay = 0.02});
}

TEST(AdamWTest, SameAsPythonWithAmsgrad) {
  ExpectSameAsPython<AdamW>("adamw", "amsgrad",
                            AdamWOptions{.lr = 0.01,
                                         .beta1 = 0.8,
                                         .beta2 = 0.99,
                                         .eps = 1e-6,
                                         .amsgrad = true});
}

TEST(AdamWTest, KeepsTheContract) {
  ExpectContract<AdamW>(AdamWOptions{.amsgrad = true});
}

TEST(AdamWTest, KeepsTheContractWithoutAmsgrad) {
  ExpectContract<AdamW>(AdamWOptions{.weight_decay = 0.1});
}

TEST(AdamWTest, SkipsParametersWithoutGradient) {
  const at::Tensor used = Parameter({2}), idle = Parameter({2}),
                   before = idle.detach().clone();
  AdamW optimizer({used, idle}, {.lr = 0.1});
  used.mutable_grad() = at::full({2}, 1.0F);
  optimizer.step();
  EXPECT_TRUE(at::equal(idle, before));
  EXPECT_EQ(optimizer.NamedTensors()[2].tensor.item<float>(), 1.0F);  // 0/step
  EXPECT_EQ(optimizer.NamedTensors()[5].tensor.item<float>(), 0.0F);  // 1/step
}

TEST(AdamWTest, StateIsNamedAndSorted) {
  const AdamW optimizer(
      {{.params = {{"w", Parameter({2})}, {"b", Parameter({3})}}}});
  std::vector<std::string> names;
  for (const NamedTensor& item : optimizer.NamedTensors())
    names.push_back(item.name);
  EXPECT_THAT(names, ElementsAre("b/exp_avg", "b/exp_avg_sq", "b/step",
                                 "w/exp_avg", "w/exp_avg_sq", "w/step"));
}

TEST(AdamWTest, ZeroGradDropsGradients) {
  const at::Tensor w = Parameter({2});
  AdamW optimizer({w});
  w.mutable_grad() = at::zeros({2});
  EXPECT_EQ(optimizer.Gradients().size(), 1);
  optimizer.ZeroGrad();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_TRUE(optimizer.Gradients().empty());
}

TEST(AdamWTest, RejectsBadOptionsByName) {
  ExpectRefused<AdamW>(AdamWOptions{.lr = -1},
                       "AdamW: lr is -1; it must be a number of at least 0");
  ExpectRefused<AdamW>(
      AdamWOptions{.beta1 = 1},
      "AdamW: beta1 is 1; it must be at least 0 and less than 1");
  ExpectRefused<AdamW>(AdamWOptions{.beta2 = -0.1}, "AdamW: beta2 is -0.1");
  ExpectRefused<AdamW>(AdamWOptions{.eps = -1e-8}, "AdamW: eps is -1e-08");
  ExpectRefused<AdamW>(AdamWOptions{.weight_decay = NAN},
                       "AdamW: weight_decay is nan");
}

TEST(AdamWTest, ErrorsNameUnknownFieldsAndGroups) {
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

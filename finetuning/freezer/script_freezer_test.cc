// ModelFreezer over TorchScript.
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include "finetuning/freezer/model_freezer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

void AddMode(torch::jit::Module& module) {
  module.register_attribute("training", c10::BoolType::get(), true);
}

// A layer, a batch norm and a head, as Python would export them.
torch::jit::Module Net() {
  torch::jit::Module linear("Linear"), norm("BatchNorm1d"), head("Linear");
  for (torch::jit::Module* module : {&linear, &head}) {
    module->register_parameter("weight", at::ones({4, 4}).requires_grad_(),
                               /*is_buffer=*/false);
    AddMode(*module);
    module->define(R"(
      def forward(self, x):
        return torch.mm(x, self.weight)
    )");
  }
  norm.register_parameter("weight", at::ones({4}).requires_grad_(), false);
  norm.register_parameter("bias", at::zeros({4}).requires_grad_(), false);
  norm.register_buffer("running_mean", at::zeros({4}));
  norm.register_buffer("running_var", at::ones({4}));
  AddMode(norm);
  norm.define(R"(
    def forward(self, x):
      return torch.batch_norm(x, self.weight, self.bias, self.running_mean,
                              self.running_var, self.training, 0.1, 1e-5, False)
  )");
  torch::jit::Module net("Net");
  net.register_module("stem", linear);
  net.register_module("norm", norm);
  net.register_module("head", head);
  AddMode(net);
  net.define(R"(
    def forward(self, x):
      return self.head.forward(self.norm.forward(self.stem.forward(x)))
  )");
  return net;
}

TEST(ScriptFreezerTest, FreezesTorchScript) {
  torch::jit::Module net = Net();
  ModelFreezer freezer(net, {.batch_norms = BatchNorms::kFreezeWithStatistics});
  EXPECT_THAT(freezer.Groups(), ElementsAre("stem", "norm", "head"));
  EXPECT_TRUE(freezer.Layers()[1].is_batch_norm);
  freezer.FreezeGroups();
  const at::Tensor mean =
      net.attr("norm").toModule().attr("running_mean").toTensor().clone();
  net.forward({at::randn({8, 4})}).toTensor().sum().backward();
  net.train();
  freezer.ApplyModes();
  net.forward({at::randn({8, 4})});
  EXPECT_TRUE(at::equal(
      net.attr("norm").toModule().attr("running_mean").toTensor(), mean));
  EXPECT_FALSE(
      net.attr("stem").toModule().attr("weight").toTensor().grad().defined());
  EXPECT_TRUE(
      net.attr("head").toModule().attr("weight").toTensor().grad().defined());

  EXPECT_EQ(freezer.UnfreezeGroups().size(), 3);
  net.forward({at::randn({8, 4})});
  EXPECT_FALSE(at::equal(
      net.attr("norm").toModule().attr("running_mean").toTensor(), mean));
}

}  // namespace
}  // namespace trainyard

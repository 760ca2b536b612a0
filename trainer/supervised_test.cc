// Includes torch::nn: Supervised takes what users have, a holder that
// TORCH_MODULE made or one of torch::nn, not only what other tests give it.
#include "trainer/supervised.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class LineImpl : public torch::nn::Module {
 public:
  // By value, as some write it.
  at::Tensor forward(at::Tensor input) { return inner->forward(input); }

  torch::nn::Linear inner{register_module("inner", torch::nn::Linear(3, 1))};
};
TORCH_MODULE(Line);

// Trains `model`, which must learn, and returns the names of its tensors,
// sorted.
template <class Holder>
std::vector<std::string> Trained(Holder model) {
  AdamW optimizer(*model, {.lr = 0.1});
  const auto backend = MakeBackend("sp");
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend);
  const at::Tensor before = model->parameters()[0].detach().clone();
  trainer.Train({.data = LinePoints(16), .length = Epochs(4)});
  EXPECT_FALSE(at::equal(model->parameters()[0], before));
  const std::vector<double> losses = trainer.history().Values("train_loss");
  EXPECT_LT(losses.back(), losses.front());
  std::vector<std::string> names;
  for (const NamedTensor& item : trainer.task().NamedTensors()) {
    names.push_back(item.name);
  }
  return names;
}

TEST(SupervisedTest, TakesAModuleOfTorch) {
  EXPECT_THAT(Trained(torch::nn::Linear(3, 1)), ElementsAre("bias", "weight"));
}

TEST(SupervisedTest, TakesAModuleOfTheUsersOwn) {
  EXPECT_THAT(Trained(Line()), ElementsAre("inner.bias", "inner.weight"));
}

}  // namespace
}  // namespace trainyard

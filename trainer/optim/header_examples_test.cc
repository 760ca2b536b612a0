// The examples in the headers of this folder. tools/lint/examples.py compares
// them.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <typeinfo>
#include <vector>

#include "trainer/model/named_tensor.h"
#include "trainer/optim/adadelta.h"
#include "trainer/optim/adafactor.h"
#include "trainer/optim/adagrad.h"
#include "trainer/optim/adam.h"
#include "trainer/optim/adamax.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/asgd.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/lamb.h"
#include "trainer/optim/lbfgs.h"
#include "trainer/optim/lion.h"
#include "trainer/optim/muon.h"
#include "trainer/optim/nadam.h"
#include "trainer/optim/param_groups.h"
#include "trainer/optim/radam.h"
#include "trainer/optim/rmsprop.h"
#include "trainer/optim/rprop.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using Model = torch::nn::Linear;

// A user's loss.
at::Tensor Loss(Model& model, const at::Tensor& batch) {
  return model->forward(batch).pow(2).mean();
}

// Checks that a step changes the weights.
template <class T>
void ExpectTrains(Model& model, T& optimizer) {
  const at::Tensor before = model->weight.detach().clone();
  Loss(model, at::ones({2, 3})).backward();
  optimizer.step();
  optimizer.ZeroGrad();
  EXPECT_FALSE(before.equal(model->weight)) << typeid(T).name();
}

TEST(HeaderExamplesTest, EveryOptimizerTrainsAModule) {
  Model model(3, 2);
  {
    Adadelta optimizer(*model, {.rho = 0.95});
    ExpectTrains(model, optimizer);
  }
  {
    Adafactor optimizer(*model, {.lr = 1e-2});
    ExpectTrains(model, optimizer);
  }
  {
    Adagrad optimizer(*model, {.lr = 0.05});
    ExpectTrains(model, optimizer);
  }
  {
    Adam optimizer(*model, {.lr = 3e-3});
    ExpectTrains(model, optimizer);
  }
  {
    Adamax optimizer(*model, {.lr = 2e-3});
    ExpectTrains(model, optimizer);
  }
  {
    ASGD optimizer(*model, {.lr = 0.01, .t0 = 1000});
    ExpectTrains(model, optimizer);
  }
  {
    Lamb optimizer(*model, {.lr = 2e-3});
    ExpectTrains(model, optimizer);
  }
  {
    Lion optimizer(*model, {.lr = 1e-4, .weight_decay = 0.1});
    ExpectTrains(model, optimizer);
  }
  {
    NAdam optimizer(*model, {.lr = 2e-3});
    ExpectTrains(model, optimizer);
  }
  {
    RAdam optimizer(*model, {.lr = 1e-3});
    ExpectTrains(model, optimizer);
  }
  {
    RMSprop optimizer(*model, {.lr = 1e-3, .momentum = 0.9});
    ExpectTrains(model, optimizer);
  }
  {
    Rprop optimizer(*model, {.lr = 0.01});
    ExpectTrains(model, optimizer);
  }
  {
    SGD optimizer(*model, {.lr = 0.1, .momentum = 0.9, .nesterov = true});
    ExpectTrains(model, optimizer);
  }
  {
    const std::vector<NamedTensor> matrices = {{"weight", model->weight}};
    Muon optimizer({{.params = matrices}}, {.lr = 0.02});
    ExpectTrains(model, optimizer);
  }
}

TEST(HeaderExamplesTest, LbfgsCallsTheClosure) {
  Model model(3, 2);
  const at::Tensor batch = at::ones({2, 3});
  const double before = Loss(model, batch).item<double>();
  LBFGS optimizer(*model, {.line_search = LBFGSOptions::Search::kStrongWolfe});
  optimizer.step([&] {
    optimizer.ZeroGrad();
    at::Tensor loss = Loss(model, batch);
    loss.backward();
    return loss;
  });
  EXPECT_LT(Loss(model, batch).item<double>(), before);
}

TEST(HeaderExamplesTest, AnOptimizerSteps) {
  Model model(3, 2);
  AdamW optimizer(*model);
  const at::Tensor loss = Loss(model, at::ones({2, 3}));
  optimizer.ZeroGrad();
  loss.backward();
  optimizer.step();
  EXPECT_EQ(optimizer.Gradients().size(), 2);
}

TEST(HeaderExamplesTest, ParamGroupsFromAModuleAListAndGroups) {
  Model model(3, 2);
  const at::Tensor body = at::ones({3}).requires_grad_();
  const at::Tensor head = at::ones({3}).requires_grad_();
  AdamW a(*model, {.lr = 1e-3});
  AdamW b(model->parameters(), {.lr = 1e-3});
  AdamW c({{.params = {{"body", body}}, .overrides = {{"lr", 1e-4}}},
           {.params = {{"head", head}}}},
          {.lr = 1e-3});
  EXPECT_EQ(a.num_groups(), 1);
  EXPECT_EQ(b.num_groups(), 1);
  EXPECT_EQ(c.Field(0, "lr"), 1e-4);
  EXPECT_EQ(c.Field(1, "lr"), 1e-3);
}

TEST(HeaderExamplesTest, Clips) {
  const Clip::Function function = [](const std::vector<at::Tensor>&) {};
  ClipNorm(1.0);
  ClipValue(0.5);
  ClipWith(function);
}

}  // namespace
}  // namespace trainyard

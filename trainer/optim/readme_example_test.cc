// The examples of README.md. tools/lint/examples.py compares them.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sign.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/list_optimizer.h"
#include "trainer/optim/param_group_rules.h"
#include "trainer/optim/testing/optimizer_testing.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

TEST(ReadmeExampleTest, OwnLoop) {
  TestLinear model(4, 1);
  const at::Tensor input = at::randn({16, 4}), target = input.sum(1, true);
  const auto loss_of = [&] {
    return model->forward(input).sub(target).square().mean();
  };
  const double before = loss_of().item<double>();

  AdamW optimizer(NoDecayForBiasAndNorm(*model), {.lr = 0.1});
  for (int update = 0; update < 100; ++update) {
    optimizer.ZeroGrad();
    loss_of().backward();
    ClipGradients(optimizer.Gradients(), ClipNorm(1.0));
    optimizer.step();
    optimizer.Field(0, "lr") *= 0.99;
  }

  EXPECT_LT(loss_of().item<double>(), before / 2);
}

class SignMomentum final : public ListOptimizer {
 public:
  SignMomentum(const ParamGroups& groups, double lr, double momentum = 0.9)
      : ListOptimizer("SignMomentum", groups,
                      {{"lr", lr}, {"momentum", momentum, kBelowOne}}) {
    AddState("momentum_buffer");
  }

 private:
  enum { kLr, kMomentum };

  void Update(Lists& lists) override {
    const Tensors& buffers = lists.state[0];
    at::_foreach_mul_(buffers, lists.fields[kMomentum]);
    at::_foreach_add_(buffers, lists.grads);
    at::_foreach_add_(lists.params, at::_foreach_sign(buffers),
                      -lists.fields[kLr]);
  }
};

TEST(ReadmeExampleTest, AnOptimizerOfYourOwn) {
  ExpectContractOf([](const ParamGroups& groups) {
    return std::make_unique<SignMomentum>(groups, 0.01);
  });
}

}  // namespace
}  // namespace trainyard

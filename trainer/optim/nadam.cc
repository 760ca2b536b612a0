#include "trainer/optim/nadam.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <vector>

namespace trainyard {
namespace {

enum { kLr, kBeta1, kBeta2, kEps, kWeightDecay, kMomentumDecay };
enum { kExpAvg, kExpAvgSq, kMuProduct };

}  // namespace

NAdam::NAdam(const ParamGroups& groups, const NAdamOptions& options)
    : ListOptimizer("NAdam", groups,
                    {{"lr", options.lr},
                     {"beta1", options.beta1, kBelowOne},
                     {"beta2", options.beta2, kBelowOne},
                     {"eps", options.eps},
                     {"weight_decay", options.weight_decay},
                     {"momentum_decay", options.momentum_decay}}),
      decoupled_weight_decay_(options.decoupled_weight_decay) {
  AddState("exp_avg");
  AddState("exp_avg_sq");
  AddState("mu_product",
           [](const Lists&, const at::Tensor&) { return at::ones({}); });
  AddSteps();
}

void NAdam::Update(Lists& lists) {
  const double* const field = lists.fields;
  const double lr = field[kLr];
  Decay(lists, lr, field[kWeightDecay], decoupled_weight_decay_);
  UpdateAverages(lists.grads, lists.state[kExpAvg], lists.state[kExpAvgSq],
                 field[kBeta1], field[kBeta2]);

  const auto momentum = [field](double step) {
    return field[kBeta1] *
           (1 - 0.5 * std::pow(0.96, step * field[kMomentumDecay]));
  };
  const double now = momentum(lists.step), next = momentum(lists.step + 1);
  // Fields may change, so each parameter has its own product.
  std::vector<at::Scalar> of_gradient, of_average;
  for (const at::Tensor& product : lists.state[kMuProduct]) {
    const double past = HostScalar(product) *= static_cast<float>(now);
    of_gradient.emplace_back(-lr * (1 - now) / (1 - past));
    of_average.emplace_back(-lr * next / (1 - past * next));
  }

  Tensors root = at::_foreach_sqrt(lists.state[kExpAvgSq]);
  at::_foreach_div_(root, std::sqrt(1 - std::pow(field[kBeta2], lists.step)));
  at::_foreach_add_(root, field[kEps]);
  at::_foreach_addcdiv_(lists.params, lists.grads, root, of_gradient);
  at::_foreach_addcdiv_(lists.params, lists.state[kExpAvg], root, of_average);
}

}  // namespace trainyard

#include "trainer/optim/radam.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_sqrt.h>

#include <cmath>

namespace trainyard {
namespace {

enum { kLr, kBeta1, kBeta2, kEps, kWeightDecay };
enum { kExpAvg, kExpAvgSq };

// Below this the variance of the adaptive step is unbounded.
constexpr double kTrusted = 5;

}  // namespace

RAdam::RAdam(const ParamGroups& groups, const RAdamOptions& options)
    : ListOptimizer("RAdam", groups,
                    {{"lr", options.lr},
                     {"beta1", options.beta1, kBelowOne},
                     {"beta2", options.beta2, kBelowOne},
                     {"eps", options.eps},
                     {"weight_decay", options.weight_decay}}),
      decoupled_weight_decay_(options.decoupled_weight_decay) {
  AddState("exp_avg");
  AddState("exp_avg_sq");
  AddSteps();
}

void RAdam::Update(Lists& lists) {
  const double* const field = lists.fields;
  Decay(lists, field[kLr], field[kWeightDecay], decoupled_weight_decay_);
  UpdateAverages(lists.grads, lists.state[kExpAvg], lists.state[kExpAvgSq],
                 field[kBeta1], field[kBeta2]);

  const double lr = field[kLr] / (1 - std::pow(field[kBeta1], lists.step));
  // The effective number of updates in the mean squares, now and in the limit.
  const double past = std::pow(field[kBeta2], lists.step);
  const double longest = 2 / (1 - field[kBeta2]) - 1;
  const double length = longest - 2 * lists.step * past / (1 - past);
  if (length <= kTrusted) {
    at::_foreach_add_(lists.params, lists.state[kExpAvg], -lr);
    return;
  }
  const double rectified = std::sqrt((length - 4) * (length - 2) * longest /
                                     ((longest - 4) * (longest - 2) * length));
  Tensors root = at::_foreach_sqrt(lists.state[kExpAvgSq]);
  at::_foreach_add_(root, field[kEps]);
  at::_foreach_addcdiv_(lists.params, lists.state[kExpAvg], root,
                        -lr * rectified * std::sqrt(1 - past));
}

}  // namespace trainyard

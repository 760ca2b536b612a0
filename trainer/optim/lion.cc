#include "trainer/optim/lion.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sign.h>

namespace trainyard {
namespace {

enum { kLr, kBeta1, kBeta2, kWeightDecay };
enum { kExpAvg };

}  // namespace

Lion::Lion(const ParamGroups& groups, const LionOptions& options)
    : ListOptimizer("Lion", groups,
                    {{"lr", options.lr},
                     {"beta1", options.beta1, kBelowOne},
                     {"beta2", options.beta2, kBelowOne},
                     {"weight_decay", options.weight_decay}}) {
  AddState("exp_avg");
}

void Lion::Update(Lists& lists) {
  const double* const field = lists.fields;
  const Tensors& average = lists.state[kExpAvg];
  Decay(lists, field[kLr], field[kWeightDecay], /*decoupled=*/true);
  Tensors step = at::_foreach_mul(average, field[kBeta1]);
  at::_foreach_add_(step, lists.grads, 1 - field[kBeta1]);
  at::_foreach_sign_(step);
  at::_foreach_add_(lists.params, step, -field[kLr]);
  at::_foreach_mul_(average, field[kBeta2]);
  at::_foreach_add_(average, lists.grads, 1 - field[kBeta2]);
}

}  // namespace trainyard

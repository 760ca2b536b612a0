#include "trainer/optim/adamax.h"

#include <ATen/ops/_foreach_abs.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_maximum.h>
#include <ATen/ops/_foreach_mul.h>

#include <cmath>

namespace trainyard {
namespace {

enum { kLr, kBeta1, kBeta2, kEps, kWeightDecay };
enum { kExpAvg, kExpInf };

}  // namespace

Adamax::Adamax(const ParamGroups& groups, const AdamaxOptions& options)
    : ListOptimizer("Adamax", groups,
                    {{"lr", options.lr},
                     {"beta1", options.beta1, kBelowOne},
                     {"beta2", options.beta2, kBelowOne},
                     {"eps", options.eps},
                     {"weight_decay", options.weight_decay}}) {
  AddState("exp_avg");
  AddState("exp_inf");
  AddSteps();
}

void Adamax::Update(Lists& lists) {
  const double* const field = lists.fields;
  DecayIntoGradients(lists, field[kWeightDecay]);
  at::_foreach_lerp_(lists.state[kExpAvg], lists.grads, 1 - field[kBeta1]);

  Tensors sizes = at::_foreach_abs(lists.grads);
  at::_foreach_add_(sizes, field[kEps]);
  at::_foreach_mul_(lists.state[kExpInf], field[kBeta2]);
  at::_foreach_maximum_(lists.state[kExpInf], sizes);

  const double correction = 1 - std::pow(field[kBeta1], lists.step);
  at::_foreach_addcdiv_(lists.params, lists.state[kExpAvg],
                        lists.state[kExpInf], -field[kLr] / correction);
}

}  // namespace trainyard

#include "trainer/optim/adadelta.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>

namespace trainyard {
namespace {

enum { kLr, kRho, kEps, kWeightDecay };
enum { kSquareAvg, kAccDelta };

}  // namespace

Adadelta::Adadelta(const ParamGroups& groups, const AdadeltaOptions& options)
    : ListOptimizer("Adadelta", groups,
                    {{"lr", options.lr},
                     {"rho", options.rho, kBelowOne},
                     {"eps", options.eps},
                     {"weight_decay", options.weight_decay}}) {
  AddState("square_avg");
  AddState("acc_delta");
  AddSteps();
}

void Adadelta::Update(Lists& lists) {
  const double* const field = lists.fields;
  const double rho = field[kRho];
  DecayIntoGradients(lists, field[kWeightDecay]);
  const Tensors& squares = lists.state[kSquareAvg];
  at::_foreach_mul_(squares, rho);
  at::_foreach_addcmul_(squares, lists.grads, lists.grads, 1 - rho);
  Tensors root = at::_foreach_add(squares, field[kEps]);
  at::_foreach_sqrt_(root);

  const Tensors& moved = lists.state[kAccDelta];
  Tensors delta = at::_foreach_add(moved, field[kEps]);
  at::_foreach_sqrt_(delta);
  at::_foreach_div_(delta, root);
  at::_foreach_mul_(delta, lists.grads);
  at::_foreach_mul_(moved, rho);
  at::_foreach_addcmul_(moved, delta, delta, 1 - rho);
  at::_foreach_add_(lists.params, delta, -field[kLr]);
}

}  // namespace trainyard

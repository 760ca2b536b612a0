#include "trainer/optim/lamb.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/stack.h>

#include <cmath>

namespace trainyard {
namespace {

enum { kLr, kBeta1, kBeta2, kEps, kWeightDecay };
enum { kExpAvg, kExpAvgSq };

}  // namespace

Lamb::Lamb(const ParamGroups& groups, const LambOptions& options)
    : ListOptimizer("Lamb", groups,
                    {{"lr", options.lr},
                     {"beta1", options.beta1, kBelowOne},
                     {"beta2", options.beta2, kBelowOne},
                     {"eps", options.eps},
                     {"weight_decay", options.weight_decay}}),
      trust_clip_(options.trust_clip),
      always_adapt_(options.always_adapt) {
  AddState("exp_avg");
  AddState("exp_avg_sq");
  AddSteps();
}

void Lamb::Update(Lists& lists) {
  const double* const field = lists.fields;
  UpdateAverages(lists.grads, lists.state[kExpAvg], lists.state[kExpAvgSq],
                 field[kBeta1], field[kBeta2]);

  Tensors root = at::_foreach_sqrt(lists.state[kExpAvgSq]);
  at::_foreach_div_(root, std::sqrt(1 - std::pow(field[kBeta2], lists.step)));
  at::_foreach_add_(root, field[kEps]);
  Tensors change = at::_foreach_div(lists.state[kExpAvg],
                                    1 - std::pow(field[kBeta1], lists.step));
  at::_foreach_div_(change, root);
  if (field[kWeightDecay] != 0) {
    at::_foreach_add_(change, lists.params, field[kWeightDecay]);
  }
  if (field[kWeightDecay] != 0 || always_adapt_) {
    // All ratios in one tensor, so that nothing waits for the device.
    const at::Tensor norms = at::stack(at::_foreach_norm(lists.params, 2));
    const at::Tensor sizes = at::stack(at::_foreach_norm(change, 2));
    at::Tensor ratios =
        norms.div(sizes).masked_fill_(norms.eq(0).logical_or_(sizes.eq(0)), 1);
    if (trust_clip_) ratios.clamp_max_(1);
    at::_foreach_mul_(change, ratios.unbind());
  }
  at::_foreach_add_(lists.params, change, -field[kLr]);
}

}  // namespace trainyard

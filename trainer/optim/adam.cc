#include "trainer/optim/adam.h"

#include <ATen/ops/_fused_adam.h>

namespace trainyard {
namespace {

enum { kLr, kBeta1, kBeta2, kEps, kWeightDecay };
enum { kExpAvg, kExpAvgSq, kMaxExpAvgSq };

}  // namespace

Adam::Adam(const ParamGroups& groups, const AdamOptions& options)
    : ListOptimizer("Adam", groups,
                    {{"lr", options.lr},
                     {"beta1", options.beta1, kBelowOne},
                     {"beta2", options.beta2, kBelowOne},
                     {"eps", options.eps},
                     {"weight_decay", options.weight_decay}},
                    Kernel::kFused),
      amsgrad_(options.amsgrad) {
  AddState("exp_avg");
  AddState("exp_avg_sq");
  if (amsgrad_) AddState("max_exp_avg_sq");
  AddSteps(Counter::kDevice);
}

void Adam::Update(Lists& lists) {
  const double* const field = lists.fields;
  at::_fused_adam_(lists.params, lists.grads, lists.state[kExpAvg],
                   lists.state[kExpAvgSq],
                   amsgrad_ ? lists.state[kMaxExpAvgSq] : at::TensorList(),
                   lists.steps, field[kLr], field[kBeta1], field[kBeta2],
                   field[kWeightDecay], field[kEps], amsgrad_,
                   /*maximize=*/false, lists.divisor);
}

}  // namespace trainyard

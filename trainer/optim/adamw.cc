#include "trainer/optim/adamw.h"

#include <ATen/ops/_fused_adamw.h>

#include "trainer/optim/adamw_host.h"

namespace trainyard {
namespace {

enum { kLr, kBeta1, kBeta2, kEps, kWeightDecay };
enum { kExpAvg, kExpAvgSq, kMaxExpAvgSq };

}  // namespace

AdamW::AdamW(const ParamGroups& groups, const AdamWOptions& options)
    : ListOptimizer("AdamW", groups,
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

void AdamW::Update(Lists& lists) {
  const double* const field = lists.fields;
  if (lists.divisor && !amsgrad_ && CanUpdateAdamWOnHost(lists.params)) {
    const AdamWHostStep step = {.lr = field[kLr],
                                .beta1 = field[kBeta1],
                                .beta2 = field[kBeta2],
                                .eps = field[kEps],
                                .weight_decay = field[kWeightDecay],
                                .step = lists.step,
                                .divisor = lists.divisor->item<float>()};
    for (size_t i = 0; i < lists.params.size(); ++i) {
      UpdateAdamWOnHost(lists.params[i], lists.grads[i],
                        lists.state[kExpAvg][i], lists.state[kExpAvgSq][i],
                        step);
    }
    return;
  }
  at::_fused_adamw_(lists.params, lists.grads, lists.state[kExpAvg],
                    lists.state[kExpAvgSq],
                    amsgrad_ ? lists.state[kMaxExpAvgSq] : at::TensorList(),
                    lists.steps, field[kLr], field[kBeta1], field[kBeta2],
                    field[kWeightDecay], field[kEps], amsgrad_,
                    /*maximize=*/false, lists.divisor);
}

}  // namespace trainyard

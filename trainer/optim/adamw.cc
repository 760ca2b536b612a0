#include "trainer/optim/adamw.h"

#include <ATen/ops/_fused_adamw.h>

#include "trainer/optim/adamw_host.h"
#include "trainer/scalar_value.h"

namespace trainyard {

AdamW::AdamW(const ParamGroups& groups, const AdamWOptions& options)
    : AdamBase("AdamW", groups, options) {}

void AdamW::Update(Lists& lists) {
  const double* const field = lists.fields;
  if (lists.divisor && !lists.skip && !amsgrad() && !lists.rate.defined() &&
      CanUpdateAdamWOnHost(lists.params)) {
    const AdamWHostStep step = {
        .lr = field[kLr],
        .beta1 = field[kBeta1],
        .beta2 = field[kBeta2],
        .eps = field[kEps],
        .weight_decay = field[kWeightDecay],
        .step = lists.step,
        .divisor = static_cast<float>(ScalarValue(*lists.divisor))};
    for (size_t i = 0; i < lists.params.size(); ++i) {
      UpdateAdamWOnHost(lists.params[i], lists.grads[i],
                        lists.state[kExpAvg][i], lists.state[kExpAvgSq][i],
                        step);
    }
    return;
  }
  UpdateFused(
      lists, [](const auto&... arguments) { at::_fused_adamw_(arguments...); });
}

}  // namespace trainyard

#include "trainer/optim/rprop.h"

#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sign.h>
#include <ATen/ops/full_like.h>

namespace trainyard {
namespace {

enum { kLr, kEtaMinus, kEtaPlus, kMinStep, kMaxStep };
enum { kPrev, kStepSize };

constexpr FieldRange kShrinks = {
    .most = 1, .without_least = true, .without_most = true};
constexpr FieldRange kGrows = {.least = 1, .without_least = true};

}  // namespace

Rprop::Rprop(const ParamGroups& groups, const RpropOptions& options)
    : ListOptimizer("Rprop", groups,
                    {{"lr", options.lr},
                     {"eta_minus", options.eta_minus, kShrinks},
                     {"eta_plus", options.eta_plus, kGrows},
                     {"min_step", options.min_step},
                     {"max_step", options.max_step}}) {
  AddState("prev");
  AddState("step_size", [](const Lists& lists, const at::Tensor& param) {
    return at::full_like(param, lists.initial[kLr]);
  });
  AddSteps();
}

void Rprop::Update(Lists& lists) {
  const double* const field = lists.fields;
  const Tensors agreement = at::_foreach_mul(lists.grads, lists.state[kPrev]);
  for (size_t i = 0; i < lists.params.size(); ++i) {
    const at::Tensor& step_size = lists.state[kStepSize][i];
    const at::Tensor turned = agreement[i].lt(0);
    at::Tensor factor = at::full_like(step_size, 1);
    factor.masked_fill_(agreement[i].gt(0), field[kEtaPlus]);
    factor.masked_fill_(turned, field[kEtaMinus]);
    step_size.mul_(factor).clamp_(field[kMinStep], field[kMaxStep]);
    // An element whose sign changed skips one update.
    lists.state[kPrev][i].copy_(lists.grads[i]).masked_fill_(turned, 0);
  }
  const Tensors signs = at::_foreach_sign(lists.state[kPrev]);
  at::_foreach_addcmul_(lists.params, signs, lists.state[kStepSize], -1);
}

}  // namespace trainyard

#include "trainer/optim/adagrad.h"

#include <ATen/ops/_fused_adagrad.h>
#include <ATen/ops/full_like.h>

namespace trainyard {
namespace {

enum { kLr, kLrDecay, kWeightDecay, kEps };
enum { kSum };

}  // namespace

Adagrad::Adagrad(const ParamGroups& groups, const AdagradOptions& options)
    : ListOptimizer("Adagrad", groups,
                    {{"lr", options.lr},
                     {"lr_decay", options.lr_decay},
                     {"weight_decay", options.weight_decay},
                     {"eps", options.eps}},
                    Kernel::kFused) {
  const double start = options.initial_accumulator_value;
  FieldSpec{"initial_accumulator_value", start}.Check(name(), start);
  AddState("sum", [start](const Lists&, const at::Tensor& param) {
    return at::full_like(param, start);
  });
  AddSteps(Counter::kDevice);
}

void Adagrad::Update(Lists& lists) {
  const double* const field = lists.fields;
  at::_fused_adagrad_(lists.params, lists.grads, lists.state[kSum], lists.steps,
                      field[kLr], field[kLrDecay], field[kWeightDecay],
                      field[kEps], /*maximize=*/false, lists.divisor);
}

}  // namespace trainyard

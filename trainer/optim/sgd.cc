#include "trainer/optim/sgd.h"

#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

namespace trainyard {
namespace {

enum { kLr, kMomentum, kDampening, kWeightDecay };
enum { kMomentumBuffer };

}  // namespace

SGD::SGD(const ParamGroups& groups, const SGDOptions& options)
    : ListOptimizer("SGD", groups,
                    {{"lr", options.lr},
                     {"momentum", options.momentum},
                     {"dampening", options.dampening, kBelowOne},
                     {"weight_decay", options.weight_decay}},
                    Kernel::kFused),
      nesterov_(options.nesterov) {
  for (size_t group = 0; group < num_groups(); ++group) {
    CheckGroup(group, groups.groups()[group]);
  }
  AddState("momentum_buffer", [](const Lists& lists, const at::Tensor& param) {
    return lists.initial[kMomentum] == 0 ? at::Tensor() : at::zeros_like(param);
  });
  // Python needs no counter: a missing buffer marks the first update.
  AddSteps();
}

void SGD::CheckGroup(size_t index, const ParamGroup&) const {
  if (!nesterov_) return;
  const double* const field = fields(index);
  TORCH_CHECK_VALUE(field[kMomentum] > 0 && field[kDampening] == 0,
                    "SGD: nesterov needs momentum above 0 and dampening 0; "
                    "group ",
                    index, " has momentum ", field[kMomentum],
                    " and dampening ", field[kDampening]);
}

void SGD::Update(Lists& lists) {
  const double* const field = lists.fields;
  const Tensors& buffers = lists.state[kMomentumBuffer];
  const bool moves = field[kMomentum] != 0;
  TORCH_CHECK_VALUE(!moves || buffers[0].defined(), "SGD: momentum was set to ",
                    field[kMomentum],
                    " in a group that started with 0 and has no buffers");
  const auto update = [&](const auto& rate) {
    // The first direction is the whole gradient, for any dampening.
    at::_fused_sgd_(lists.params, lists.grads,
                    moves ? buffers : at::TensorList(), field[kWeightDecay],
                    field[kMomentum], rate, field[kDampening], nesterov_,
                    /*maximize=*/false, /*is_first_step=*/lists.step == 1,
                    lists.divisor, lists.skip);
  };
  if (lists.rate.defined()) {
    update(lists.rate);
  } else {
    update(field[kLr]);
  }
}

}  // namespace trainyard

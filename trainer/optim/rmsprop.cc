#include "trainer/optim/rmsprop.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

namespace trainyard {
namespace {

enum { kLr, kAlpha, kEps, kWeightDecay, kMomentum };
enum { kSquareAvg, kMomentumBuffer, kGradAvg };

}  // namespace

RMSprop::RMSprop(const ParamGroups& groups, const RMSpropOptions& options)
    : ListOptimizer("RMSprop", groups,
                    {{"lr", options.lr},
                     {"alpha", options.alpha, kBelowOne},
                     {"eps", options.eps},
                     {"weight_decay", options.weight_decay},
                     {"momentum", options.momentum}}),
      centered_(options.centered) {
  AddState("square_avg");
  AddState("momentum_buffer", [](const Lists& lists, const at::Tensor& param) {
    return lists.initial[kMomentum] == 0 ? at::Tensor() : at::zeros_like(param);
  });
  if (centered_) AddState("grad_avg");
  AddSteps();
}

void RMSprop::Update(Lists& lists) {
  const double* const field = lists.fields;
  const double alpha = field[kAlpha];
  DecayIntoGradients(lists, field[kWeightDecay]);
  const Tensors& squares = lists.state[kSquareAvg];
  at::_foreach_mul_(squares, alpha);
  at::_foreach_addcmul_(squares, lists.grads, lists.grads, 1 - alpha);

  Tensors root;
  if (centered_) {
    const Tensors& means = lists.state[kGradAvg];
    at::_foreach_lerp_(means, lists.grads, 1 - alpha);
    root = at::_foreach_addcmul(squares, means, means, -1);
    at::_foreach_sqrt_(root);
  } else {
    root = at::_foreach_sqrt(squares);
  }
  at::_foreach_add_(root, field[kEps]);

  if (field[kMomentum] == 0) {
    at::_foreach_addcdiv_(lists.params, lists.grads, root, -field[kLr]);
    return;
  }
  const Tensors& buffers = lists.state[kMomentumBuffer];
  TORCH_CHECK_VALUE(buffers[0].defined(), "RMSprop: momentum was set to ",
                    field[kMomentum],
                    " in a group that started with 0 and has no buffers");
  at::_foreach_mul_(buffers, field[kMomentum]);
  at::_foreach_addcdiv_(buffers, lists.grads, root);
  at::_foreach_add_(lists.params, buffers, -field[kLr]);
}

}  // namespace trainyard

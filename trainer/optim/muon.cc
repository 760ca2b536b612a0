#include "trainer/optim/muon.h"

#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

enum { kLr, kWeightDecay, kMomentum };
enum { kMomentumBuffer };

}  // namespace

Muon::Muon(const ParamGroups& groups, const MuonOptions& options)
    : ListOptimizer("Muon", groups,
                    {{"lr", options.lr},
                     {"weight_decay", options.weight_decay},
                     {"momentum", options.momentum, kBelowOne}}),
      options_(options) {
  FieldSpec{"eps", options.eps, kAboveZero}.Check(name(), options.eps);
  TORCH_CHECK_VALUE(options.ns_steps >= 1 && options.ns_steps < 100,
                    "Muon: ns_steps is ", options.ns_steps,
                    "; it must be from 1 to 99");
  for (size_t group = 0; group < num_groups(); ++group) {
    CheckGroup(group, groups.groups()[group]);
  }
  AddState("momentum_buffer");
}

void Muon::CheckGroup(size_t, const ParamGroup& group) const {
  for (const NamedTensor& param : group.params) {
    TORCH_CHECK_VALUE(param.tensor.dim() == 2, "Muon: parameter \"", param.name,
                      "\" has shape ", param.tensor.sizes(),
                      "; it must be a matrix");
  }
}

// Approximates U V' of the singular value decomposition U S V'.
at::Tensor Muon::Orthogonal(const at::Tensor& matrix) const {
  const bool tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = options_.bfloat16 ? matrix.to(at::kBFloat16) : matrix;
  if (tall) x = x.t();
  x = x.div(at::linalg_vector_norm(x, 2).clamp_min_(options_.eps));
  for (int i = 0; i < options_.ns_steps; ++i) {
    const at::Tensor gram = x.mm(x.t());
    const at::Tensor update =
        at::addmm(gram, gram, gram, options_.b, options_.c);
    x = at::addmm(x, update, x, options_.a);
  }
  return tall ? x.t() : x;
}

void Muon::Update(Lists& lists) {
  const double lr = lists.fields[kLr];
  const double momentum = lists.fields[kMomentum];
  const Tensors& average = lists.state[kMomentumBuffer];
  at::_foreach_lerp_(average, lists.grads, 1 - momentum);
  const Tensors direction =
      options_.nesterov ? at::_foreach_lerp(lists.grads, average, momentum)
                        : average;
  Decay(lists, lr, lists.fields[kWeightDecay], /*decoupled=*/true);
  for (size_t i = 0; i < lists.params.size(); ++i) {
    const at::Tensor& param = lists.params[i];
    const auto rows = static_cast<double>(param.size(0));
    const auto columns = static_cast<double>(param.size(1));
    const double ratio = options_.scale == MuonOptions::Scale::kOriginal
                             ? std::sqrt(std::max(1.0, rows / columns))
                             : 0.2 * std::sqrt(std::max(rows, columns));
    param.add_(Orthogonal(direction[i]), -lr * ratio);
  }
}

}  // namespace trainyard

#include "trainer/optim/asgd.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainyard {
namespace {

enum { kLr, kLambd, kAlpha, kT0, kWeightDecay };
enum { kAx, kEta, kMu };

}  // namespace

ASGD::ASGD(const ParamGroups& groups, const ASGDOptions& options)
    : ListOptimizer("ASGD", groups,
                    {{"lr", options.lr},
                     {"lambd", options.lambd},
                     {"alpha", options.alpha},
                     {"t0", options.t0},
                     {"weight_decay", options.weight_decay}}) {
  AddState("ax");
  AddState("eta", [](const Lists& lists, const at::Tensor&) {
    return at::full({}, lists.initial[kLr], at::kFloat);
  });
  AddState("mu", [](const Lists&, const at::Tensor&) { return at::ones({}); });
  AddSteps();
}

void ASGD::Update(Lists& lists) {
  const double* const field = lists.fields;
  std::vector<at::Scalar> etas, mus;
  for (size_t i = 0; i < lists.params.size(); ++i) {
    etas.emplace_back(-static_cast<double>(HostScalar(lists.state[kEta][i])));
    mus.emplace_back(static_cast<double>(HostScalar(lists.state[kMu][i])));
  }
  DecayIntoGradients(lists, field[kWeightDecay]);
  Tensors change = at::_foreach_add(lists.grads, lists.params, field[kLambd]);
  at::_foreach_mul_(change, etas);
  at::_foreach_add_(lists.params, change);
  at::_foreach_lerp_(lists.state[kAx], lists.params, mus);

  // For the next update.
  const double slowed = 1 + field[kLambd] * field[kLr] * lists.step;
  const double eta = field[kLr] / std::pow(slowed, field[kAlpha]);
  const double mu = 1 / std::max(1.0, lists.step - field[kT0]);
  for (size_t i = 0; i < lists.params.size(); ++i) {
    HostScalar(lists.state[kEta][i]) = static_cast<float>(eta);
    HostScalar(lists.state[kMu][i]) = static_cast<float>(mu);
  }
}

}  // namespace trainyard

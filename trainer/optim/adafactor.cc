#include "trainer/optim/adafactor.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace trainyard {
namespace {

enum { kLr, kBeta2Decay, kEps2, kD, kWeightDecay };
enum { kRowVar, kColVar, kVariance };

constexpr FieldRange kNotPositive = {
    .least = -std::numeric_limits<double>::infinity(), .most = 0};

// Zeros of the parameter's shape with one dimension reduced to 1.
at::Tensor Reduced(const at::Tensor& param, int64_t dim) {
  if (param.dim() <= 1) return at::Tensor();
  std::vector<int64_t> sizes = param.sizes().vec();
  sizes[sizes.size() + dim] = 1;
  return at::zeros(sizes, param.options().requires_grad(false));
}

double Epsilon(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    case at::kHalf:
      return std::numeric_limits<at::Half>::epsilon();
    case at::kBFloat16:
      return std::numeric_limits<at::BFloat16>::epsilon();
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

}  // namespace

Adafactor::Adafactor(const ParamGroups& groups, const AdafactorOptions& options)
    : ListOptimizer("Adafactor", groups,
                    {{"lr", options.lr},
                     {"beta2_decay", options.beta2_decay, kNotPositive},
                     {"eps2", options.eps2},
                     {"d", options.d, {.least = 1}},
                     {"weight_decay", options.weight_decay}}),
      eps1_(options.eps1) {
  if (eps1_) FieldSpec{"eps1", *eps1_}.Check(name(), *eps1_);
  AddState("row_var", [](const Lists&, const at::Tensor& param) {
    return Reduced(param, -1);
  });
  AddState("col_var", [](const Lists&, const at::Tensor& param) {
    return Reduced(param, -2);
  });
  AddState("variance", [](const Lists&, const at::Tensor& param) {
    return param.dim() > 1 ? at::Tensor() : at::zeros_like(param);
  });
  AddSteps();
}

// Returns the running mean squares of a parameter's gradient as a new tensor.
at::Tensor Adafactor::MeanSquares(const Lists& lists, size_t i, double weight,
                                  double eps) const {
  const at::Tensor& grad = lists.grads[i];
  if (grad.dim() <= 1) {
    return lists.state[kVariance][i].lerp_(grad.square(), weight).clone();
  }
  for (const int64_t dim : {-1, -2}) {
    const at::Tensor mean = at::linalg_vector_norm(grad, 2, dim, true)
                                .square_()
                                .div_(grad.size(dim));
    lists.state[dim == -1 ? kRowVar : kColVar][i].lerp_(mean, weight);
  }
  const at::Tensor& rows = lists.state[kRowVar][i];
  return rows.matmul(lists.state[kColVar][i])
      .div_(rows.mean(-2, /*keepdim=*/true).clamp_min_(eps));
}

void Adafactor::Update(Lists& lists) {
  const double* const field = lists.fields;
  const double weight = std::pow(lists.step, field[kBeta2Decay]);
  const double relative = std::min(field[kLr], 1 / std::sqrt(lists.step));
  for (size_t i = 0; i < lists.params.size(); ++i) {
    const at::Tensor& param = lists.params[i];
    const double root = std::sqrt(static_cast<double>(param.numel()));
    // Scalars stay on the device: reading them would wait for the device.
    const at::Tensor scale = at::linalg_vector_norm(param, 2)
                                 .div_(root)
                                 .clamp_min_(field[kEps2])
                                 .mul_(relative);
    if (field[kWeightDecay] != 0) {
      param.mul_(1 - field[kLr] * field[kWeightDecay]);
    }
    const double eps = eps1_ ? *eps1_ : Epsilon(param.scalar_type());
    const at::Tensor change = MeanSquares(lists, i, weight, eps)
                                  .clamp_min_(eps * eps)
                                  .rsqrt_()
                                  .mul_(lists.grads[i]);
    const at::Tensor excess =
        at::linalg_vector_norm(change, 2).div_(root * field[kD]).clamp_min_(1);
    param.addcmul_(change, scale.div(excess), -1);
  }
}

}  // namespace trainyard

#include "trainer/optim/clip.h"

#include <ATen/ops/_foreach_clamp_max.h>
#include <ATen/ops/_foreach_clamp_min.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <utility>

namespace trainyard {
namespace {

// As in torch.nn.utils.clip_grad_norm_: keeps the division away from 0.
constexpr double kEpsilon = 1e-6;

void CheckLimit(const char* name, double limit) {
  TORCH_CHECK_VALUE(std::isfinite(limit) && limit > 0, name, ": the limit is ",
                    limit, "; it must be a number above 0");
}

// Up to here a call of ATen's costs more than the sum itself.
constexpr int64_t kFewElements = 1 << 14;

double SumOfSquares(const float* values, int64_t count) {
  // Side by side, so that the compiler may use its vectors.
  constexpr int64_t kLanes = 16;
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += values[i + lane] * values[i + lane];
    }
  }
  double sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < count; ++i) sum += double{values[i]} * values[i];
  return sum;
}

double SumOfSquares(const at::Tensor& gradient) {
  if (gradient.numel() <= kFewElements &&
      gradient.scalar_type() == at::kFloat &&
      gradient.is_non_overlapping_and_dense()) {
    return SumOfSquares(gradient.const_data_ptr<float>(), gradient.numel());
  }
  const double norm = at::linalg_vector_norm(gradient, 2).item<double>();
  return norm * norm;
}

}  // namespace

Clip ClipNorm(double max_norm) {
  CheckLimit("ClipNorm", max_norm);
  return {.kind = Clip::Kind::kNorm, .limit = max_norm};
}

Clip ClipValue(double max_value) {
  CheckLimit("ClipValue", max_value);
  return {.kind = Clip::Kind::kValue, .limit = max_value};
}

Clip ClipWith(Clip::Function function) {
  TORCH_CHECK_VALUE(function != nullptr, "ClipWith: there is no function");
  return {.kind = Clip::Kind::kFunction, .function = std::move(function)};
}

at::Tensor GradientNorm(const std::vector<at::Tensor>& gradients) {
  if (gradients.empty()) return at::zeros({});
  if (gradients.front().is_cpu()) {
    // Reading a scalar is free here; stacking scalars is not.
    double squares = 0;
    for (const at::Tensor& gradient : gradients) {
      squares += SumOfSquares(gradient);
    }
    return at::scalar_tensor(std::sqrt(squares), gradients.front().options());
  }
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
}

at::Tensor ClippingDivisor(const at::Tensor& norm, double divisor,
                           double max_norm) {
  if (norm.is_cpu()) {
    const double excess = (norm.item<double>() / divisor + kEpsilon) / max_norm;
    // Written so that a norm that is not a number reaches the parameters, as it
    // must.
    return at::scalar_tensor(excess < 1 ? divisor : excess * divisor,
                             norm.options());
  }
  return norm.div(divisor).add_(kEpsilon).div_(max_norm).clamp_min_(1).mul_(
      divisor);
}

void ClipGradients(const std::vector<at::Tensor>& gradients, const Clip& clip) {
  if (gradients.empty()) return;
  switch (clip.kind) {
    case Clip::Kind::kNone:
      return;
    case Clip::Kind::kNorm:
      at::_foreach_div_(
          gradients, ClippingDivisor(GradientNorm(gradients), 1, clip.limit));
      return;
    case Clip::Kind::kValue:
      at::_foreach_clamp_min_(gradients, -clip.limit);
      at::_foreach_clamp_max_(gradients, clip.limit);
      return;
    case Clip::Kind::kFunction:
      clip.function(gradients);
      return;
  }
}

}  // namespace trainyard

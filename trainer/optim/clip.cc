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

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "trainer/scalar_value.h"

namespace trainyard {
namespace {

// As in torch.nn.utils.clip_grad_norm_: keeps the division away from 0.
constexpr double kEpsilon = 1e-6;

void CheckLimit(const char* name, double limit) {
  TORCH_CHECK_VALUE(std::isfinite(limit) && limit > 0, name, ": the limit is ",
                    limit, "; it must be a number above 0");
}

// For small tensors ATen's norm costs more than the sum itself, and for large
// ones it waits for memory, which could serve several streams at a time. Small:
// eight interleaved streams. Large: each stream has its own eighth and reads a
// cache line at a time; prefetching 4 lines was the fastest.
template <bool kLarge>
double SumOfSquares(const float* values, int64_t count) {
  using Four [[gnu::vector_size(16)]] = float;
  constexpr int64_t kStreams = 8, kWidth = 4, kPiece = kLarge ? 16 : kWidth;
  constexpr int64_t kStride = kLarge ? kPiece : kStreams * kWidth;
  // Sums in float only as long as the rounding does not matter.
  constexpr int64_t kRun = 1024 / kPiece;
  const int64_t apart = kLarge ? count / kStreams / kPiece * kPiece : kWidth;
  const int64_t blocks = kLarge ? apart / kPiece : count / kStride;
  double sum = 0;
  for (int64_t block = 0; block < blocks;) {
    const int64_t end = std::min(blocks, block + kRun);
    Four sums[kStreams] = {};
    for (; block < end; ++block) {
#pragma GCC unroll 8
      for (int64_t stream = 0; stream < kStreams; ++stream) {
        const float* piece = values + stream * apart + block * kStride;
        if constexpr (kLarge) __builtin_prefetch(piece + 4 * kPiece, 0, 0);
#pragma GCC unroll 4
        for (int64_t i = 0; i < kPiece; i += kWidth) {
          Four four;
          std::memcpy(&four, piece + i, sizeof(four));
          sums[stream] += four * four;
        }
      }
    }
    for (const Four& four : sums) {
      sum += double{four[0]} + four[1] + four[2] + four[3];
    }
  }
  for (int64_t i = blocks * kStreams * kPiece; i < count; ++i) {
    sum += double{values[i]} * values[i];
  }
  return sum;
}

double SumOfSquares(const at::Tensor& gradient) {
  if (gradient.scalar_type() == at::kFloat &&
      gradient.is_non_overlapping_and_dense()) {
    const auto* values = gradient.const_data_ptr<float>();
    const int64_t count = gradient.numel();
    return count > (1 << 14) ? SumOfSquares<true>(values, count)
                             : SumOfSquares<false>(values, count);
  }
  const double norm = at::linalg_vector_norm(gradient, 2).item<double>();
  return norm * norm;
}

double HostNorm(const std::vector<at::Tensor>& gradients) {
  double squares = 0;
  // From the last one, so that the first are still in the cache for the update.
  for (size_t i = gradients.size(); i-- > 0;) {
    squares += SumOfSquares(gradients[i]);
  }
  return std::sqrt(squares);
}

double HostDivisor(double norm, double divisor, double max_norm) {
  const double excess = (norm / divisor + kEpsilon) / max_norm;
  // Written so that a NaN norm reaches the parameters and is not hidden.
  return excess < 1 ? divisor : excess * divisor;
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

std::string ToString(const Clip& clip) {
  switch (clip.kind) {
    case Clip::Kind::kNorm:
      return c10::str("norm ", clip.limit);
    case Clip::Kind::kValue:
      return c10::str("value ", clip.limit);
    case Clip::Kind::kFunction:
      return "function";
    case Clip::Kind::kNone:
      break;
  }
  return "none";
}

at::Tensor GradientNorm(const std::vector<at::Tensor>& gradients) {
  if (gradients.empty()) return at::zeros({});
  if (gradients.front().is_cpu()) {
    return at::scalar_tensor(HostNorm(gradients), gradients.front().options());
  }
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
}

at::Tensor ClippingDivisor(const at::Tensor& norm, double divisor,
                           double max_norm) {
  if (norm.is_cpu()) {
    return at::scalar_tensor(HostDivisor(ScalarValue(norm), divisor, max_norm),
                             norm.options());
  }
  return norm.div(divisor).add_(kEpsilon).div_(max_norm).clamp_min_(1).mul_(
      divisor);
}

at::Tensor ClippingDivisor(const std::vector<at::Tensor>& gradients,
                           double divisor, double max_norm) {
  if (gradients.empty() || !gradients.front().is_cpu()) {
    return ClippingDivisor(GradientNorm(gradients), divisor, max_norm);
  }
  const double factor = HostDivisor(HostNorm(gradients), divisor, max_norm);
  if (factor == 1) return at::Tensor();
  return at::scalar_tensor(factor, gradients.front().options());
}

void ClipGradients(const std::vector<at::Tensor>& gradients, const Clip& clip) {
  if (gradients.empty()) return;
  switch (clip.kind) {
    case Clip::Kind::kNone:
      return;
    case Clip::Kind::kNorm:
      if (const at::Tensor divisor = ClippingDivisor(gradients, 1, clip.limit);
          divisor.defined()) {
        at::_foreach_div_(gradients, divisor);
      }
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

#include "trainer/optim/adamw_host.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trainyard {

#if defined(__x86_64__)
namespace {

constexpr int64_t kWidth = 8;
// Up to this size a second thread makes it slower.
constexpr int64_t kFewElements = 1 << 16;

struct Factors {
  float scale, decay, weight, beta2, weight2, correction, eps, size;
};

Factors FactorsOf(const AdamWHostStep& step) {
  const double correction1 = 1 - std::pow(step.beta1, step.step);
  const double correction2 = 1 - std::pow(step.beta2, step.step);
  return {.scale = 1 / step.divisor,
          .decay = static_cast<float>(1 - step.lr * step.weight_decay),
          .weight = static_cast<float>(1 - step.beta1),
          .beta2 = static_cast<float>(step.beta2),
          .weight2 = static_cast<float>(1 - step.beta2),
          .correction = static_cast<float>(1 / std::sqrt(correction2)),
          .eps = static_cast<float>(step.eps),
          .size = static_cast<float>(-(step.lr / correction1))};
}

// Updates eight elements. Rounds like ATen's kernel, except that it multiplies
// by reciprocals of constants where ATen divides: divisions would take as long
// as all the rest.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void UpdateEight(
    float* param, const float* grad, float* mean, float* square,
    const Factors& by) {
  const __m256 x = _mm256_loadu_ps(grad) * by.scale;
  const __m256 p = _mm256_loadu_ps(param) * by.decay;
  __m256 m = _mm256_loadu_ps(mean), v = _mm256_loadu_ps(square);
  // Interpolates from the nearer end.
  m = by.weight < 0.5F
          ? _mm256_fmadd_ps(_mm256_set1_ps(by.weight), x - m, m)
          : _mm256_fmadd_ps(_mm256_set1_ps(by.weight - 1), x - m, x);
  v = _mm256_fmadd_ps(_mm256_set1_ps(by.weight2) * x, x, v * by.beta2);
  const __m256 root = _mm256_sqrt_ps(v) * by.correction + by.eps;
  _mm256_storeu_ps(mean, m);
  _mm256_storeu_ps(square, v);
  _mm256_storeu_ps(param, p + by.size * m / root);
}

[[gnu::target("avx2,fma")]] void UpdateAll(float* param, const float* grad,
                                           float* mean, float* square,
                                           int64_t count, const Factors& by) {
  const Factors local = by;
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    UpdateEight(param + i, grad + i, mean + i, square + i, local);
  }
  if (i == count) return;
  // The remaining elements, padded with zeros.
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(float);
  float rest[4][kWidth] = {};
  std::memcpy(rest[0], param + i, bytes);
  std::memcpy(rest[1], grad + i, bytes);
  std::memcpy(rest[2], mean + i, bytes);
  std::memcpy(rest[3], square + i, bytes);
  UpdateEight(rest[0], rest[1], rest[2], rest[3], local);
  std::memcpy(param + i, rest[0], bytes);
  std::memcpy(mean + i, rest[2], bytes);
  std::memcpy(square + i, rest[3], bytes);
}

}  // namespace

bool CanUpdateAdamWOnHost(const std::vector<at::Tensor>& params) {
  if (!params[0].is_cpu() || params[0].scalar_type() != at::kFloat) {
    return false;
  }
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    return false;
  }
  if (at::get_num_threads() == 1) return true;
  int64_t elements = 0;
  for (const at::Tensor& param : params) elements += param.numel();
  return elements <= kFewElements;
}

void UpdateAdamWOnHost(const at::Tensor& param, const at::Tensor& grad,
                       const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                       const AdamWHostStep& step) {
  UpdateAll(param.mutable_data_ptr<float>(), grad.const_data_ptr<float>(),
            exp_avg.mutable_data_ptr<float>(),
            exp_avg_sq.mutable_data_ptr<float>(), param.numel(),
            FactorsOf(step));
  // Tells autograd that the parameter has changed.
  param.unsafeGetTensorImpl()->bump_version();
}

#else

bool CanUpdateAdamWOnHost(const std::vector<at::Tensor>&) { return false; }

void UpdateAdamWOnHost(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                       const at::Tensor&, const AdamWHostStep&) {}

#endif

}  // namespace trainyard

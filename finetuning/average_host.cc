#include "finetuning/average_host.h"

#include <algorithm>
#include <cstdint>

#include "trainer/in_parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trainyard {

#if defined(__x86_64__)
namespace {

constexpr int64_t kWidth = 8;
// The elements that a thread takes at a time.
constexpr int64_t kPiece = 1 << 16;

// Interpolates from the nearer end, as ATen does.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void MoveEight(
    float* average, const float* model, __m256 weight, bool near_average) {
  const __m256 from = _mm256_loadu_ps(average), to = _mm256_loadu_ps(model);
  _mm256_storeu_ps(average, near_average
                                ? _mm256_fmadd_ps(weight, to - from, from)
                                : _mm256_fmadd_ps(weight, to - from, to));
}

[[gnu::target("avx2,fma")]] void MoveAll(float* average, const float* model,
                                         int64_t count, double weight) {
  const bool near_average = weight < 0.5;
  const auto factor = static_cast<float>(near_average ? weight : weight - 1);
  const __m256 factors = _mm256_set1_ps(factor);
  const int64_t half = count / (4 * kWidth) * (2 * kWidth);
  for (int64_t i = 0; i < half; i += 2 * kWidth) {
    for (const int64_t at : {i, half + i}) {
      MoveEight(average + at, model + at, factors, near_average);
      MoveEight(average + at + kWidth, model + at + kWidth, factors,
                near_average);
    }
  }
  for (int64_t i = 2 * half; i < count; ++i) {
    const float from = average[i], to = model[i];
    average[i] = __builtin_fmaf(factor, to - from, near_average ? from : to);
  }
}

}  // namespace

bool CanMoveOnHost(const at::Tensor& average, const at::Tensor& model) {
  return average.is_cpu() && model.is_cpu() &&
         average.scalar_type() == at::kFloat &&
         model.scalar_type() == at::kFloat &&
         average.sizes() == model.sizes() &&
         average.strides() == model.strides() &&
         average.is_non_overlapping_and_dense() &&
         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

void MoveOnHost(const at::Tensor& average, const at::Tensor& model,
                double weight) {
  float* const to = average.mutable_data_ptr<float>();
  const float* const from = model.const_data_ptr<float>();
  const int64_t count = average.numel();
  InParallel((count + kPiece - 1) / kPiece, [&](int64_t i) {
    const int64_t begin = i * kPiece;
    MoveAll(to + begin, from + begin, std::min(kPiece, count - begin), weight);
  });
  // Tells autograd that the tensor was modified.
  average.unsafeGetTensorImpl()->bump_version();
}

#else

bool CanMoveOnHost(const at::Tensor&, const at::Tensor&) { return false; }

void MoveOnHost(const at::Tensor&, const at::Tensor&, double) {}

#endif

}  // namespace trainyard

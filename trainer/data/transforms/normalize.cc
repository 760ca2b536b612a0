#include "trainer/data/transforms/normalize.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace trainyard {
namespace {

// Blocks of a fixed size, which the compiler turns into vector instructions at
// any level of optimisation.
constexpr int64_t kBlock = 32;

[[gnu::noinline]] void Linear(const uint8_t* __restrict in,
                              float* __restrict out, int64_t count, float scale,
                              float shift) {
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (int64_t k = 0; k < kBlock; ++k)
      out[i + k] = static_cast<float>(in[i + k]) * scale + shift;
  }
  for (; i < count; ++i) out[i] = static_cast<float>(in[i]) * scale + shift;
}

}  // namespace

Normalize::Normalize(const NormalizeOptions& options) {
  TORCH_CHECK_VALUE(
      !options.mean.empty() && options.mean.size() == options.deviation.size(),
      "Normalize: ", options.mean.size(), " means and ",
      options.deviation.size(), " deviations; there must be one per channel");
  TORCH_CHECK_VALUE(options.max_value > 0, "Normalize: max_value is ",
                    options.max_value, "; it must be above 0");
  for (size_t c = 0; c < options.mean.size(); ++c) {
    const double deviation = options.deviation[c];
    TORCH_CHECK_VALUE(deviation > 0, "Normalize: a deviation is ", deviation,
                      "; it must be above 0");
    scale_.push_back(static_cast<float>(1 / (options.max_value * deviation)));
    shift_.push_back(static_cast<float>(-options.mean[c] / deviation));
  }
}

at::Tensor Normalize::operator()(const at::Tensor& images) const {
  const int64_t channels = std::ssize(scale_);
  TORCH_CHECK_VALUE(
      channels == 1 || (images.dim() == 4 && images.size(1) == channels),
      "Normalize: images of shape ", images.sizes(), " do not have ", channels,
      " channels (N x C x H x W)");
  if (images.scalar_type() == at::kByte && images.is_cpu()) {
    return Bytes(images.contiguous());
  }
  const auto options = images.options().dtype(at::kFloat);
  return images.to(at::kFloat)
      .mul(at::tensor(scale_, options).view({channels, 1, 1}))
      .add_(at::tensor(shift_, options).view({channels, 1, 1}));
}

at::Tensor Normalize::Bytes(const at::Tensor& images) const {
  at::Tensor result =
      at::empty(images.sizes(), images.options().dtype(at::kFloat));
  const uint8_t* const in = images.const_data_ptr<uint8_t>();
  float* const out = result.data_ptr<float>();
  const int64_t channels = std::ssize(scale_);
  const int64_t plane =
      channels == 1 ? images.numel() : images.size(2) * images.size(3);
  const int64_t planes = channels == 1 ? 1 : images.size(0) * channels;
  for (int64_t i = 0; i < planes; ++i) {
    const auto channel = static_cast<size_t>(i % channels);
    Linear(in + i * plane, out + i * plane, plane, scale_[channel],
           shift_[channel]);
  }
  return result;
}

}  // namespace trainyard

#include "trainer/layers/conv_pool_host.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "trainer/in_parallel.h"

namespace trainyard {
namespace {

// Up to so many channels, their kernel is faster.
constexpr int64_t kFew = 3;
// The batch is divided into so many slices, whatever the number of threads:
// sums over the images then have one order.
constexpr int64_t kSlices = 32;

using Scratch = std::unique_ptr<float[]>;

// Not initialised.
Scratch MakeScratch(int64_t elements) {
  return Scratch(new float[static_cast<size_t>(elements)]);
}

int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Calls `run(slice, first, last)` for each slice of the images. Returns their
// number.
template <class Run>
int64_t ForSlices(int64_t images, const Run& run) {
  const int64_t size = (images + kSlices - 1) / kSlices;
  const int64_t count = (images + size - 1) / size;
  InParallel(count, [&](int64_t slice) {
    run(slice, slice * size, std::min((slice + 1) * size, images));
  });
  return count;
}

// Of image, channel, row, column.
struct Strides {
  explicit Strides(const at::Tensor& t)
      : n(t.stride(0)), c(t.stride(1)), y(t.stride(2)), x(t.stride(3)) {}
  int64_t n, c, y, x;
};

// Copies pixels from `from`, which has these strides, with the channels last.
void CopyPixels(const float* from, const Strides& strides, int64_t channels,
                int64_t height, int64_t width, float* to, int64_t to_row,
                int64_t to_pixel) {
  for (int64_t y = 0; y < height; ++y, from += strides.y, to += to_row) {
    if (strides.c == 1) {
      for (int64_t x = 0; x < width; ++x) {
        std::memcpy(to + x * to_pixel, from + x * strides.x,
                    static_cast<size_t>(channels) * sizeof(float));
      }
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t x = 0; x < width; ++x) {
          to[x * to_pixel + c] = from[c * strides.c + x * strides.x];
        }
      }
    }
  }
}

}  // namespace

ConvPoolHost::ConvPoolHost(const ConvPoolKernels& kernels,
                           const at::Tensor& input, const at::Tensor& weight)
    : kernels_(kernels),
      input_(input),
      weight_(weight.contiguous()),
      images_(input.size(0)),
      shape_{.channels = input.size(1),
             .height = input.size(2),
             .width = input.size(3),
             .filters = weight.size(0),
             .padded_channels = RoundUp(input.size(1), kernels.lanes),
             .padded_filters = RoundUp(weight.size(0), kernels.lanes)},
      few_(shape_.channels <= kFew),
      weight_elements_(few_ ? shape_.channels * 9 * shape_.padded_filters
                            : shape_.filters * 9 * shape_.padded_channels) {}

void ConvPoolHost::CopyPlanes(int64_t image, float* to) const {
  const Strides strides(input_);
  const float* const from = input_.const_data_ptr<float>() + image * strides.n;
  const int64_t row = shape_.row(), width = shape_.width;
  std::fill_n(to, shape_.channels * shape_.plane(), 0.0F);
  for (int64_t c = 0; c < shape_.channels; ++c) {
    for (int64_t y = 0; y < shape_.height; ++y) {
      float* const line = to + c * shape_.plane() + (y + 1) * row + 1;
      const float* const source = from + c * strides.c + y * strides.y;
      if (strides.x == 1) {
        std::memcpy(line, source, static_cast<size_t>(width) * sizeof(float));
      } else {
        for (int64_t x = 0; x < width; ++x) line[x] = source[x * strides.x];
      }
    }
  }
}

void ConvPoolHost::CopyImage(int64_t image, float* to) const {
  const Strides strides(input_);
  const int64_t pixel = shape_.padded_channels, row = shape_.row() * pixel;
  std::fill_n(to, shape_.plane() * pixel, 0.0F);
  CopyPixels(input_.const_data_ptr<float>() + image * strides.n, strides,
             shape_.channels, shape_.height, shape_.width, to + row + pixel,
             row, pixel);
}

ConvPooled ConvPoolHost::Forward(const at::Tensor& bias,
                                 bool for_gradients) const {
  const int64_t filters = shape_.filters, padded = shape_.padded_filters;
  const int64_t pooled = shape_.pooled();
  ConvPooled result;
  result.output =
      at::empty({images_, filters, shape_.height / 2, shape_.width / 2},
                weight_.options(), at::MemoryFormat::ChannelsLast);
  if (for_gradients) {
    result.chosen = at::empty({images_, pooled * padded},
                              weight_.options().dtype(at::kByte));
  }
  // Filters last, padded with zeros.
  std::vector<float> weight(static_cast<size_t>(shape_.channels * 9 * padded));
  const float* const from = weight_.const_data_ptr<float>();
  for (int64_t f = 0; f < filters; ++f) {
    for (int64_t i = 0; i < shape_.channels * 9; ++i) {
      weight[static_cast<size_t>(i * padded + f)] =
          from[f * shape_.channels * 9 + i];
    }
  }
  std::vector<float> start(static_cast<size_t>(padded));
  if (bias.defined()) {
    const at::Tensor values = bias.contiguous();
    std::copy_n(values.const_data_ptr<float>(), filters, start.begin());
  }
  float* const output = result.output.mutable_data_ptr<float>();
  uint8_t* const chosen =
      for_gradients ? result.chosen.mutable_data_ptr<uint8_t>() : nullptr;
  ForSlices(images_, [&](int64_t, int64_t first, int64_t last) {
    const Scratch planes = MakeScratch(shape_.channels * shape_.plane());
    const Scratch values = MakeScratch(pooled * padded);
    std::vector<uint8_t> unused(
        chosen == nullptr ? static_cast<size_t>(pooled * padded) : 0);
    for (int64_t i = first; i < last; ++i) {
      CopyPlanes(i, planes.get());
      float* const to = output + i * pooled * filters;
      const bool direct = filters == padded;
      kernels_.forward(
          shape_, planes.get(), weight.data(), start.data(),
          direct ? to : values.get(),
          chosen == nullptr ? unused.data() : chosen + i * pooled * padded);
      for (int64_t p = 0; p < pooled && !direct; ++p) {
        std::copy_n(values.get() + p * padded, filters, to + p * filters);
      }
    }
  });
  return result;
}

void ConvPoolHost::AddWeightGradient(int64_t image, const float* grad,
                                     const uint8_t* chosen, float* weight,
                                     float* bias) const {
  if (few_) {
    const Scratch planes = MakeScratch(shape_.channels * shape_.plane());
    CopyPlanes(image, planes.get());
    kernels_.weight_gradient_of_few(shape_, planes.get(), grad, chosen, weight,
                                    bias);
    return;
  }
  const Scratch pixels = MakeScratch(shape_.plane() * shape_.padded_channels);
  CopyImage(image, pixels.get());
  kernels_.weight_gradient(shape_, pixels.get(), grad, chosen, weight, bias);
}

void ConvPoolHost::WriteInputGradient(int64_t image, const float* grad,
                                      const uint8_t* chosen,
                                      const float* weight,
                                      at::Tensor& result) const {
  const int64_t pixel = shape_.padded_channels, row = shape_.row() * pixel;
  const Scratch pixels = MakeScratch(shape_.plane() * pixel);
  std::fill_n(pixels.get(), shape_.plane() * pixel, 0.0F);
  kernels_.input_gradient(shape_, weight, grad, chosen, pixels.get());
  float* to = result.mutable_data_ptr<float>() +
              image * shape_.channels * shape_.height * shape_.width;
  for (int64_t y = 0; y < shape_.height; ++y) {
    const float* const from = pixels.get() + (y + 1) * row + pixel;
    for (int64_t x = 0; x < shape_.width; ++x, to += shape_.channels) {
      std::copy_n(from + x * pixel, shape_.channels, to);
    }
  }
}

// The sum of the slices, in the layout of the weight.
at::Tensor ConvPoolHost::WeightGradient(const float* slices,
                                        int64_t count) const {
  std::vector<float> sum(slices, slices + weight_elements_);
  for (int64_t s = 1; s < count; ++s) {
    const float* const slice = slices + s * weight_elements_;
    for (int64_t i = 0; i < weight_elements_; ++i) {
      sum[static_cast<size_t>(i)] += slice[i];
    }
  }
  at::Tensor result = at::empty_like(weight_);
  float* to = result.mutable_data_ptr<float>();
  for (int64_t f = 0; f < shape_.filters; ++f) {
    for (int64_t c = 0; c < shape_.channels; ++c) {
      for (int64_t tap = 0; tap < 9; ++tap) {
        *to++ = sum[static_cast<size_t>(
            few_ ? (c * 9 + tap) * shape_.padded_filters + f
                 : (f * 9 + tap) * shape_.padded_channels + c)];
      }
    }
  }
  return result;
}

ConvPoolGrads ConvPoolHost::Backward(const at::Tensor& chosen,
                                     const at::Tensor& grad,
                                     const ConvPoolWanted& wanted) const {
  const int64_t filters = shape_.filters, padded = shape_.padded_filters;
  const int64_t pooled = shape_.pooled(), channels = shape_.padded_channels;
  ConvPoolGrads result;
  std::vector<float> weight;
  if (wanted.input) {
    result.input = at::empty(input_.sizes(), weight_.options(),
                             at::MemoryFormat::ChannelsLast);
    // Channels last, padded with zeros.
    weight.resize(static_cast<size_t>(filters * 9 * channels));
    const float* from = weight_.const_data_ptr<float>();
    for (int64_t f = 0; f < filters; ++f) {
      for (int64_t c = 0; c < shape_.channels; ++c) {
        for (int64_t tap = 0; tap < 9; ++tap) {
          weight[static_cast<size_t>((f * 9 + tap) * channels + c)] = *from++;
        }
      }
    }
  }
  const Strides strides(grad);
  const float* const grads = grad.const_data_ptr<float>();
  const uint8_t* const choices = chosen.const_data_ptr<uint8_t>();
  const Scratch weights = MakeScratch(kSlices * weight_elements_);
  const Scratch biases = MakeScratch(kSlices * padded);
  const int64_t slices =
      ForSlices(images_, [&](int64_t slice, int64_t first, int64_t last) {
        const Scratch values = MakeScratch(pooled * padded);
        std::fill_n(values.get(), pooled * padded, 0.0F);
        float* const weight_sum = weights.get() + slice * weight_elements_;
        float* const bias_sum = biases.get() + slice * padded;
        std::fill_n(weight_sum, weight_elements_, 0.0F);
        std::fill_n(bias_sum, padded, 0.0F);
        for (int64_t i = first; i < last; ++i) {
          const uint8_t* const choice = choices + i * pooled * padded;
          CopyPixels(grads + i * strides.n, strides, filters, shape_.height / 2,
                     shape_.pooled_width(), values.get(),
                     shape_.pooled_width() * padded, padded);
          if (wanted.weight || wanted.bias) {
            AddWeightGradient(i, values.get(), choice, weight_sum, bias_sum);
          }
          if (wanted.input) {
            WriteInputGradient(i, values.get(), choice, weight.data(),
                               result.input);
          }
        }
      });
  if (wanted.weight) result.weight = WeightGradient(weights.get(), slices);
  if (wanted.bias) {
    result.bias = at::zeros({filters}, weight_.options());
    float* const to = result.bias.mutable_data_ptr<float>();
    for (int64_t s = 0; s < slices; ++s) {
      for (int64_t f = 0; f < filters; ++f) to[f] += biases[s * padded + f];
    }
  }
  return result;
}

}  // namespace trainyard

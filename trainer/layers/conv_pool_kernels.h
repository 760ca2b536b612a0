// The kernels of ConvPoolRelu, for one image each, in versions for AVX2 and
// AVX-512.
//
//   const ConvPoolKernels* const kernels = FastestConvPoolKernels();
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_LAYERS_CONV_POOL_KERNELS_H_
#define TRAINYARD_TRAINER_LAYERS_CONV_POOL_KERNELS_H_

#include <cstdint>

namespace trainyard {

// Of one image: channels x height x width; the output is filters x height / 2 x
// width / 2, rounded down. Padded numbers are multiples of the lanes.
struct ConvPoolShape {
  int64_t channels = 0, height = 0, width = 0, filters = 0;
  int64_t padded_channels = 0, padded_filters = 0;

  int64_t row() const { return width + 2; }
  int64_t plane() const { return (height + 2) * row(); }
  int64_t pooled_width() const { return width / 2; }
  int64_t pooled() const { return (height / 2) * pooled_width(); }
};

// The element of a 2 x 2 window, row by row, that was the largest, or kCut if
// the activation cut it.
inline constexpr uint8_t kCut = 4;

struct ConvPoolKernels {
  int64_t lanes;

  // `planes`: the image between zeros, channels x (height + 2) x (width + 2).
  // `weight`: channels x 9 x padded_filters; `bias`: padded_filters.
  // Writes `output` and `chosen`, pooled x padded_filters.
  void (*forward)(const ConvPoolShape& shape, const float* planes,
                  const float* weight, const float* bias, float* output,
                  uint8_t* chosen);

  // Adds to `weight`, channels x 9 x padded_filters, and `bias`, from the
  // planes and gradients, pooled x padded_filters. For few channels.
  void (*weight_gradient_of_few)(const ConvPoolShape& shape,
                                 const float* planes, const float* grad,
                                 const uint8_t* chosen, float* weight,
                                 float* bias);

  // Adds to `weight`, filters x 9 x padded_channels, and `bias`. `image`:
  // between zeros, (height + 2) x (width + 2) x padded_channels.
  void (*weight_gradient)(const ConvPoolShape& shape, const float* image,
                          const float* grad, const uint8_t* chosen,
                          float* weight, float* bias);

  // Adds to `result`, an image between zeros as above. `weight`: filters x 9 x
  // padded_channels.
  void (*input_gradient)(const ConvPoolShape& shape, const float* weight,
                         const float* grad, const uint8_t* chosen,
                         float* result);
};

// Null if this processor has no AVX2 or libtorch was told not to use it
// (ATEN_CPU_CAPABILITY).
const ConvPoolKernels* FastestConvPoolKernels();

// Null if this processor cannot run them.
const ConvPoolKernels* Avx2ConvPoolKernels();
const ConvPoolKernels* Avx512ConvPoolKernels();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LAYERS_CONV_POOL_KERNELS_H_

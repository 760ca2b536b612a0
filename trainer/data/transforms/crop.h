// RandomCrop cuts a random part out of each image; PadImages adds a border.
//
//   images = RandomCrop(images, {.height = 32, .width = 32, .padding = 4},
//                       random);
//
// Images are N x … x H x W, of any type, on the CPU.
//
// Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_CROP_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_CROP_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trainer/data/transforms/batch_random.h"

namespace trainyard {

struct RandomCropOptions {
  // Size of the result. REQUIRES: >= 1, at most the size of the padded image.
  int64_t height = 1;
  int64_t width = 1;
  // Pixels added on each side before cropping. REQUIRES: >= 0.
  int64_t padding = 0;
  // Value of the added pixels.
  double fill = 0.0;
};

at::Tensor RandomCrop(const at::Tensor& images,
                      const RandomCropOptions& options, BatchRandom& random);

// Adds `pixels` on each side. REQUIRES: pixels >= 0.
at::Tensor PadImages(const at::Tensor& images, int64_t pixels,
                     double fill = 0.0);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_CROP_H_

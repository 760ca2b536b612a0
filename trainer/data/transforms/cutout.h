// Cutout blanks a square at a random place of each image. The square may reach
// beyond the border.
//
//   images = Cutout(images, {.size = 8}, random);
//
// Images are N x … x H x W, of any type. Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_CUTOUT_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_CUTOUT_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trainer/data/transforms/batch_random.h"

namespace trainyard {

struct CutoutOptions {
  // Side of the square in pixels. REQUIRES: >= 1.
  int64_t size = 8;
  // The value in the square.
  double fill = 0.0;
  // Probability that an image is changed. REQUIRES: in [0, 1].
  double probability = 1.0;
};

at::Tensor Cutout(const at::Tensor& images, const CutoutOptions& options,
                  BatchRandom& random);

// The part of a box around (row, column) that lies in an image of height x
// width.
struct Box {
  int64_t top = 0, left = 0, height = 0, width = 0;
};
Box ClippedBox(int64_t row, int64_t column, int64_t box_height,
               int64_t box_width, int64_t height, int64_t width);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_CUTOUT_H_

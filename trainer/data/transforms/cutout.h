// Cutout blanks a square at a random place of each image; it may reach over the
// edge.
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
  // Pixels of the square's side. REQUIRES: >= 1.
  int64_t size = 8;
  // The value in the square.
  double fill = 0.0;
  // Of an image to be changed. REQUIRES: in [0, 1].
  double probability = 1.0;
};

at::Tensor Cutout(const at::Tensor& images, const CutoutOptions& options,
                  BatchRandom& random);

// A square of `size` pixels around (row, column), as far as it lies in height x
// width.
struct Box {
  int64_t top = 0, left = 0, height = 0, width = 0;
};
Box ClippedBox(int64_t row, int64_t column, int64_t box_height,
               int64_t box_width, int64_t height, int64_t width);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_CUTOUT_H_

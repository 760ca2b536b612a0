// RandomFlip mirrors each image with a given probability, left to right or top
// to bottom.
//
//   images = RandomFlip(images, {}, random);
//
// Images are N x … x H x W, of any type. Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_FLIP_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_FLIP_H_

#include <ATen/core/Tensor.h>

#include "trainer/data/transforms/batch_random.h"

namespace trainyard {

struct RandomFlipOptions {
  // Probability that an image is mirrored. REQUIRES: in [0, 1].
  double probability = 0.5;
  // Top to bottom; otherwise left to right.
  bool vertical = false;
};

at::Tensor RandomFlip(const at::Tensor& images,
                      const RandomFlipOptions& options, BatchRandom& random);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_FLIP_H_

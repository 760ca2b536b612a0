// Mixup blends each image of a batch with another one; Cutmix pastes a box of
// the other one into it. Targets become class probabilities (float32, N x
// classes), which CrossEntropy accepts.
//
//   return MapBatches<Example>(data, [](Example e, BatchRandom& random) {
//     return Mixup(e, {.alpha = 0.2, .num_classes = 10}, random);
//   });
//
// The other image is the one of the row before; for the first row it is the
// last. Images are floats, N x … x H x W; targets are class numbers.
//
// Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_MIXUP_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_MIXUP_H_

#include <cstdint>

#include "trainer/data/batch.h"
#include "trainer/data/transforms/batch_random.h"

namespace trainyard {

struct MixOptions {
  // The share of the image itself is drawn from Beta(alpha, alpha). REQUIRES:
  // > 0.
  double alpha = 1.0;
  // REQUIRES: >= 1, and above every target.
  int64_t num_classes = 0;
};

Example Mixup(const Example& batch, const MixOptions& options,
              BatchRandom& random);

// The share of a target is its share of the pixels.
Example Cutmix(const Example& batch, const MixOptions& options,
               BatchRandom& random);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_MIXUP_H_

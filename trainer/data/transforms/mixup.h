// Mixup blends each image of a batch with another one, Cutmix pastes a box of
// the other one into it; targets become shares of classes (float32, N x
// classes), as a cross entropy takes them.
//
//   return MapBatches<Example>(data, [](Example e, BatchRandom& random) {
//     return Mixup(e, {.alpha = 0.2, .num_classes = 10}, random);
//   });
//
// The other image is the row before, the last one's for the first. Images are
// floats, N x … x H x W; targets are class numbers.
//
// Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_MIXUP_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_MIXUP_H_

#include <cstdint>

#include "trainer/data/batch.h"
#include "trainer/data/transforms/batch_random.h"

namespace trainyard {

struct MixOptions {
  // An image's own share is drawn from Beta(alpha, alpha). REQUIRES: > 0.
  double alpha = 1.0;
  // REQUIRES: >= 1, and above every target.
  int64_t num_classes = 0;
};

Example Mixup(const Example& batch, const MixOptions& options,
              BatchRandom& random);

// Shares of the targets are the shares of the pixels.
Example Cutmix(const Example& batch, const MixOptions& options,
               BatchRandom& random);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_MIXUP_H_

// MixedCrossEntropy and MixedAccuracy accept mixed targets, as Mixup and Cutmix
// of trainer/data/transforms make them: class probabilities in training, class
// indices in evaluation.
//
//   const auto task = Supervised(model, MixedCrossEntropy(0.1),
//                                {{"accuracy", MixedAccuracy()}});
//
// Targets are class indices (N, integers) or class probabilities (N x classes,
// floats; each row sums to 1). Results are means over the batch, as scalars
// that stay on the device. Thread-safe.
#ifndef TRAINYARD_FINETUNING_LOSSES_MIXED_TARGETS_H_
#define TRAINYARD_FINETUNING_LOSSES_MIXED_TARGETS_H_

#include "trainer/losses.h"

namespace trainyard {

// With label smoothing s, the target becomes (1 - s) * target + s / classes.
// REQUIRES: 0 <= label_smoothing <= 1.
OutputsAndTarget MixedCrossEntropy(double label_smoothing = 0);

// The correct class of a mixed target is the one with the highest probability.
OutputsAndTarget MixedAccuracy();

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LOSSES_MIXED_TARGETS_H_

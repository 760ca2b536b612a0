// Loss and accuracy for batches whose targets may be mixed, as Mixup and Cutmix
// of trainer/data/transforms make them: shares of classes in training, plain
// class numbers in evaluation.
//
//   Trainer trainer(Supervised(model, MixedCrossEntropy(0.1),
//                              {{"accuracy", MixedAccuracy()}}),
//                   optimizer, *backend);
//
// Targets are class numbers (N, integers) or shares of classes (N x classes,
// floats that add up to 1 in each row). Means over the batch, as scalars that
// stay on the device. Thread-safe.
#ifndef TRAINYARD_FINETUNING_LOSSES_MIXED_TARGETS_H_
#define TRAINYARD_FINETUNING_LOSSES_MIXED_TARGETS_H_

#include "trainer/losses.h"

namespace trainyard {

// Label smoothing moves that share of each target to all classes alike: (1 - s)
// target + s / classes. REQUIRES: 0 <= label_smoothing <= 1.
OutputsAndTarget MixedCrossEntropy(double label_smoothing = 0);

// Of mixed targets, the class with the largest share is the right one.
OutputsAndTarget MixedAccuracy();

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LOSSES_MIXED_TARGETS_H_

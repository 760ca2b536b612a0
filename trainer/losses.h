// Ready losses and metrics of outputs and target, each the mean over the batch,
// as a scalar that stays on the device.
#ifndef TRAINYARD_TRAINER_LOSSES_H_
#define TRAINYARD_TRAINER_LOSSES_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace trainyard {

using OutputsAndTarget = std::function<at::Tensor(const at::Tensor& outputs,
                                                  const at::Tensor& target)>;

// Cross entropy of logits (N x classes) and class numbers (N).
// REQUIRES: 0 <= label_smoothing <= 1.
OutputsAndTarget CrossEntropy(double label_smoothing = 0);

// Mean of squared differences. REQUIRES (in each call): equal shapes, since
// broadcasting a forgotten dimension would train something else.
OutputsAndTarget MeanSquaredError();

// Of logits and targets from 0 to 1. REQUIRES (in each call): equal shapes.
OutputsAndTarget BinaryCrossEntropy();

// Share of the batch whose largest logit is at the target's class.
OutputsAndTarget Accuracy();

// Share of the batch whose target is among the k largest logits. REQUIRES: k >=
// 1, and in each call at most as many as there are classes.
OutputsAndTarget TopKAccuracy(int64_t k);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOSSES_H_

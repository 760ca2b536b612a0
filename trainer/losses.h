// Ready losses and metrics of outputs and target, each the mean over the batch,
// as a scalar that stays on the device.
#ifndef TRAINYARD_TRAINER_LOSSES_H_
#define TRAINYARD_TRAINER_LOSSES_H_

#include <ATen/core/Tensor.h>

#include <functional>

namespace trainyard {

// Cross entropy of logits (N x classes) and class numbers (N). REQUIRES: 0 <=
// smoothing <= 1.
std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> CrossEntropy(
    double label_smoothing = 0);

// Share of the batch whose largest logit is at the target's class.
std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> Accuracy();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOSSES_H_

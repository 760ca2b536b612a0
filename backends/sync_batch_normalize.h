// SyncBatchNormalize is batch normalisation by the mean and variance of the
// batches of all ranks, on any device. Forward and backward exchange two
// numbers per channel.
//
//   const at::Tensor y =
//       SyncBatchNormalize(x, {.weight = w, .bias = b}, collectives);
//
// Collective, and so is its backward pass: all ranks must make both.
#ifndef TRAINYARD_BACKENDS_SYNC_BATCH_NORMALIZE_H_
#define TRAINYARD_BACKENDS_SYNC_BATCH_NORMALIZE_H_

#include <ATen/core/Tensor.h>

#include "backends/collectives.h"

namespace trainyard {

struct BatchNormTensors {
  // One number per channel each; may be undefined.
  at::Tensor weight = {};
  at::Tensor bias = {};
  // Moved towards the batch's by `momentum`; may be undefined.
  at::Tensor running_mean = {};
  at::Tensor running_var = {};
  double momentum = 0.1;
  double eps = 1e-5;
};

// `input` is N x C x …. Ranks may have different N, also 0. Borrows the
// collectives until the backward pass is over.
at::Tensor SyncBatchNormalize(const at::Tensor& input,
                              const BatchNormTensors& tensors,
                              Collectives& collectives);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SYNC_BATCH_NORMALIZE_H_

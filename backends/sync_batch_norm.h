// SyncBatchNorm is a BatchNorm over several ranks: it normalises by the mean
// and variance of the batches of all ranks, so that small batches per rank
// train like one large batch. It replaces BatchNorm1d, 2d and 3d.
//
//   struct NetImpl : torch::nn::Module {
//     SyncBatchNorm norm{register_module("norm", SyncBatchNorm(64))};
//     …
//   };
//   …
//   UseSyncBatchNorm(*net, backend->collectives());
//
// Before UseSyncBatchNorm is called, and in evaluation mode, it is an ordinary
// BatchNorm. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SYNC_BATCH_NORM_H_
#define TRAINYARD_BACKENDS_SYNC_BATCH_NORM_H_

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/options/batchnorm.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "backends/collectives.h"
#include "backends/sync_batch_normalize.h"
#include "backends/use_sync_batch_norm.h"

namespace trainyard {

class SyncBatchNormImpl : public torch::nn::Module {
 public:
  explicit SyncBatchNormImpl(int64_t num_features)
      : SyncBatchNormImpl(torch::nn::BatchNormOptions(num_features)) {}
  explicit SyncBatchNormImpl(const torch::nn::BatchNormOptions& options);
  // With the tensors of another layer, shared.
  SyncBatchNormImpl(const torch::nn::BatchNormOptions& options,
                    const BatchNormTensors& tensors,
                    const at::Tensor& num_batches_tracked);

  at::Tensor forward(const at::Tensor& input);

  // Borrows them. None: ordinary again.
  void Use(Collectives* collectives) { collectives_ = collectives; }

 private:
  torch::nn::BatchNormOptions options_;
  BatchNormTensors tensors_;
  at::Tensor num_batches_tracked_;
  Collectives* collectives_ = nullptr;
};
TORCH_MODULE(SyncBatchNorm);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SYNC_BATCH_NORM_H_

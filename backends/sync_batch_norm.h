// SyncBatchNorm is BatchNorm for several processes: it normalises by the mean
// and variance of all their batches, so that small batches per process train
// like one large one. It takes the place of BatchNorm1d, 2d and 3d.
//
//   struct NetImpl : torch::nn::Module {
//     trainyard::SyncBatchNorm norm{register_module(
//         "norm", trainyard::SyncBatchNorm(64))};
//     …
//   };
//   UseSyncBatchNorm(*net, backend->collectives());
//
// Until UseSyncBatchNorm is called, and while evaluating, it is an ordinary
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

// UseSyncBatchNorm lets a model's batch normalisation work over all processes:
//
//   UseSyncBatchNorm(*net, backend->collectives());
//
// It is apart from SyncBatchNorm itself (backends/sync_batch_norm.h), so that
// who only calls it does not compile torch/nn. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_USE_SYNC_BATCH_NORM_H_
#define TRAINYARD_BACKENDS_USE_SYNC_BATCH_NORM_H_

#include "backends/collectives.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

// Lets every SyncBatchNorm of the model work over these processes, after
// replacing each BatchNorm in a torch::nn::Sequential by one that shares its
// tensors. A BatchNorm held elsewhere cannot be replaced, because its owner
// calls it by its type: throws c10::ValueError, naming all of those, and
// changes nothing. Call it before training, on all ranks. Borrows the
// collectives.
void UseSyncBatchNorm(torch::nn::Module& model, Collectives& collectives);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_USE_SYNC_BATCH_NORM_H_

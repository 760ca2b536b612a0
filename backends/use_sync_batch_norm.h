// UseSyncBatchNorm makes the batch normalisation of a model use the batches of
// all ranks:
//
//   UseSyncBatchNorm(*net, backend->collectives());
//
// SyncBatchNorm itself is in backends/sync_batch_norm.h, which includes
// torch/nn. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_USE_SYNC_BATCH_NORM_H_
#define TRAINYARD_BACKENDS_USE_SYNC_BATCH_NORM_H_

#include "backends/collectives.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

// Replaces each BatchNorm in a torch::nn::Sequential by a SyncBatchNorm that
// shares its tensors, and connects every SyncBatchNorm of the model to these
// ranks. A BatchNorm that another module holds cannot be replaced, because that
// module calls it by its type: then throws c10::ValueError with the names of
// all of them and changes nothing. Call it before training, on all ranks.
// Borrows the collectives.
void UseSyncBatchNorm(torch::nn::Module& model, Collectives& collectives);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_USE_SYNC_BATCH_NORM_H_

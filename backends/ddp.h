// The ddp backend trains on several processes at once, each on its own part of
// every batch: data-parallel training. Their gradients become the mean of all
// of them while the backward pass still runs, so that all processes make the
// same update.
//
//   auto group = std::make_shared<ProcessGroup>(ProcessGroupOptions{
//       .rendezvous = RendezvousFromEnvironment()});
//   auto backend = MakeDdpBackend(group, MakeSingleProcessBackend(at::kCPU));
//   backend->Prepare(models);
//
// A step with several calls of Backward must make them in the same order on all
// processes. BackwardWithoutBatch stands for one call that reaches all models.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_DDP_H_
#define TRAINYARD_BACKENDS_DDP_H_

#include <memory>

#include "backends/backend.h"
#include "backends/model_reducer.h"
#include "backends/processes/process_group.h"

namespace trainyard {

struct DdpOptions {
  ReducerOptions reducer = {};
  // Whether rank 0's buffers (e.g. a BatchNorm's running mean) are copied to
  // all others after every update; otherwise each process keeps its own.
  bool broadcast_buffers = true;
};

// Adds it to a backend of one process. Its name is "ddp", the other's being
// "sp".
std::unique_ptr<Backend> MakeDdpBackend(std::shared_ptr<ProcessGroup> group,
                                        std::unique_ptr<Backend> backend,
                                        const DdpOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_DDP_H_

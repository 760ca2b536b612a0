// The ddp backend trains one model on several ranks, each with its own part of
// every batch: data-parallel training. It averages the gradients over the ranks
// during the backward pass, so that all ranks make the same update.
//
//   auto group = std::make_shared<ProcessGroup>(
//       ProcessGroupOptions{.rendezvous = rendezvous});
//   auto backend = MakeDdpBackend(group, MakeSingleProcessBackend(at::kCPU));
//   backend->Prepare(models);
//
// If a step calls Backward several times, all ranks must make these calls in
// the same order. BackwardWithoutBatch takes part in one call that reaches all
// models.
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
  // Whether rank 0's buffers (e.g. the running mean of a BatchNorm) are copied
  // to the other ranks after every update. Otherwise each rank keeps its own.
  bool broadcast_buffers = true;
};

// Decorates a backend of one process. The name of the result is "ddp". Throws
// c10::ValueError if group or backend is null.
std::unique_ptr<Backend> MakeDdpBackend(std::shared_ptr<ProcessGroup> group,
                                        std::unique_ptr<Backend> backend,
                                        const DdpOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_DDP_H_

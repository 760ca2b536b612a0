// The zero backends train like ddp, each rank on its own part of every batch,
// but shard what an optimizer needs over the ranks:
//
//   zero1   each rank holds the state of its slices of the parameters and
//           updates only these; then all ranks gather the new values
//   zero2   each rank also keeps only its slices of the gradients: a bucket of
//           gradients is freed as soon as it was sent
//
//   auto backend = MakeZeroBackend(group, MakeSingleProcessBackend(at::kCPU),
//                                  {.stage = 2});
//   backend->Prepare(models);
//   backend->PrepareOptimizer(optimizer);
//
// The optimizer must be element-wise (Optimizer::element_wise). Its gradients
// are this rank's slices of the mean over all ranks; parameters have none after
// the backward pass that exchanges. Several losses per step: as in ddp.h.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_ZERO_H_
#define TRAINYARD_BACKENDS_SHARDED_ZERO_H_

#include <cstddef>
#include <memory>

#include "backends/backend.h"
#include "backends/processes/process_group.h"

namespace trainyard {

struct ZeroOptions {
  // 1: zero1, 2: zero2.
  int stage = 1;
  // Gradients and parameters are exchanged in buckets of about this size. The
  // first is smaller so that its exchange starts early. REQUIRES: > 0.
  size_t bucket_bytes = size_t{25} << 20;
  size_t first_bucket_bytes = size_t{1} << 20;
  // Whether rank 0's buffers (e.g. the running mean of a BatchNorm) are copied
  // to the other ranks after every update. Otherwise each rank keeps its own.
  bool broadcast_buffers = true;
  // Whether slices of the parameters and the state of the optimizer are in the
  // memory of the host, where the CPU updates them: less memory of the device,
  // for two copies per update. Without effect if the device is the CPU.
  bool offload_to_host = false;
};

// Decorates a backend of one process. The name of the result is "zero1" or
// "zero2". Throws c10::ValueError if group or backend is null, or for another
// stage.
std::unique_ptr<Backend> MakeZeroBackend(std::shared_ptr<ProcessGroup> group,
                                         std::unique_ptr<Backend> backend,
                                         const ZeroOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_ZERO_H_

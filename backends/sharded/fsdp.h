// The fsdp backend trains like zero2 and also shards the parameters: a rank has
// its slices of them, and the whole parameters of a part of the model only
// while that part computes.
//
//   auto backend = MakeFsdpBackend(group, MakeSingleProcessBackend(at::kCPU));
//   backend->Prepare(models);
//   backend->PrepareOptimizer(optimizer);
//   backend->Forward([&] { loss = … });  // collective here
//
// The parts are the units that a model declares (trainer/model/model_unit.h;
// exported models have them by themselves). What is in no unit is whole from
// the start of Forward to the end of Backward. Otherwise parameters have no
// memory, and reading one throws c10::Error: make a WholeParameters for that.
//
// Forward and Backward are collective: all ranks go through the same units in
// the same order. See zero.h for the rest. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_FSDP_H_
#define TRAINYARD_BACKENDS_SHARDED_FSDP_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/processes/process_group.h"

namespace trainyard {

struct FsdpOptions {
  // Whether a declared unit is one, by its name: that of the model in the task
  // and that of the module in the model, e.g. "net.blocks.0". Otherwise its
  // parameters are with those in no unit. Null: all are units.
  std::function<bool(const std::string&)> is_unit = nullptr;
  // Whether a unit stays whole from its forward to its backward: half of the
  // gathers, for the memory of all parameters.
  bool keep_after_forward = false;
  // Whether the next unit is gathered while one computes.
  bool prefetch = true;
  // Gradients and parameters are exchanged in buckets of about this size. The
  // first of the gradients is smaller so that its exchange starts early.
  // REQUIRES: > 0.
  size_t bucket_bytes = size_t{25} << 20;
  size_t first_bucket_bytes = size_t{1} << 20;
  // Whether rank 0's buffers (e.g. the running mean of a BatchNorm) are copied
  // to the other ranks after every update. Otherwise each rank keeps its own.
  bool broadcast_buffers = true;
  // Whether slices of the parameters and the state of the optimizer are in the
  // memory of the host, where the CPU updates them: less memory of the device,
  // for copies in every gather and update. Without effect if the device is the
  // CPU.
  bool offload_to_host = false;
};

// Decorates a backend of one process. The name of the result is "fsdp". Throws
// c10::ValueError if group or backend is null.
std::unique_ptr<Backend> MakeFsdpBackend(std::shared_ptr<ProcessGroup> group,
                                         std::unique_ptr<Backend> backend,
                                         const FsdpOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_FSDP_H_

// MakeNccl makes c10d's NCCL backend: collectives between CUDA devices.
//
//   nccl = MakeNccl(store, all, options_.timeout);
//
// Only a build with --config=cuda has it.
#ifndef TRAINYARD_BACKENDS_PROCESSES_NCCL_H_
#define TRAINYARD_BACKENDS_PROCESSES_NCCL_H_

#include <c10/util/intrusive_ptr.h>

#include <chrono>

#include "backends/processes/rendezvous.h"

// Include c10d's own headers, which are large, to call their methods.
namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace trainyard {

// Throws c10::NotImplementedError in a build for the CPU. Collective.
c10::intrusive_ptr<c10d::Backend> MakeNccl(
    const c10::intrusive_ptr<c10d::Store>& store, const Rendezvous& rendezvous,
    std::chrono::milliseconds timeout);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_NCCL_H_

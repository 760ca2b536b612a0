// For builds with --config=cuda.
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "backends/processes/nccl.h"

namespace trainyard {

c10::intrusive_ptr<c10d::Backend> MakeNccl(
    const c10::intrusive_ptr<c10d::Store>& store, const Rendezvous& rendezvous,
    std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      store, static_cast<int>(rendezvous.rank),
      static_cast<int>(rendezvous.world_size), options);
}

}  // namespace trainyard

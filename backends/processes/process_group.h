// ProcessGroup joins the processes of a run: gloo for tensors on the CPU, NCCL
// for those on CUDA.
//
//   ProcessGroup group({.rendezvous = RendezvousFromEnvironment()});
//   group.Guard("the sum", [&] { group.side()->allreduce(tensors)->wait(); });
//
// It is c10d's own ProcessGroup twice: one for training alone, so that a
// collective that some ranks forgot cannot be taken for a gradient.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_PROCESS_GROUP_H_
#define TRAINYARD_BACKENDS_PROCESSES_PROCESS_GROUP_H_

#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/processes/rendezvous.h"

// Whoever calls their methods includes c10d/ProcessGroup.hpp, which is large.
namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

namespace trainyard {

class RollCall;

struct ProcessGroupOptions {
  Rendezvous rendezvous = {};
  // Where this process trains.
  at::Device device = at::kCPU;
  // How long to wait for a rank that does not come: at the start and in every
  // collective. REQUIRES: > 0.
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
};

class ProcessGroup {
 public:
  // Collective: all ranks must call it. Throws c10::DistError, naming the ranks
  // that did not come.
  explicit ProcessGroup(const ProcessGroupOptions& options);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  const Rendezvous& rendezvous() const { return options_.rendezvous; }
  at::Device device() const { return options_.device; }

  // For gradients and what goes with them.
  const c10::intrusive_ptr<c10d::ProcessGroup>& training() const {
    return training_;
  }
  // For everything else.
  const c10::intrusive_ptr<c10d::ProcessGroup>& side() const { return side_; }

  // The same ranks, connected once more: its side() may be used by another
  // thread; it has no training(). Collective: all ranks must call it.
  std::unique_ptr<ProcessGroup> ForAnotherThread();

  // Calls `run`, which talks to other ranks. An error of the network becomes a
  // c10::DistError that says who is missing; other errors pass.
  void Guard(const char* what, c10::function_ref<void()> run);

  // Tells the others why this process is about to end.
  void Abandon(const std::string& reason);

 private:
  ProcessGroup(const ProcessGroupOptions& options,
               c10::intrusive_ptr<c10d::Store> store);

  ProcessGroupOptions options_;
  c10::intrusive_ptr<c10d::Store> store_;
  // How many groups ForAnotherThread has made.
  int64_t others_ = 0;
  std::unique_ptr<RollCall> roll_call_;
  c10::intrusive_ptr<c10d::ProcessGroup> training_;
  c10::intrusive_ptr<c10d::ProcessGroup> side_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_PROCESS_GROUP_H_

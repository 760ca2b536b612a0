// ProcessGroup connects the ranks of a run: for tensors on the CPU by shared
// memory if all ranks are on one machine, else by gloo; for tensors on CUDA by
// NCCL.
//
//   ProcessGroup group({.rendezvous = rendezvous});
//   group.Guard("the sum", [&] { group.side()->allreduce(tensors)->wait(); });
//
// It has two of c10d's process groups, each with communicators of its own: one
// is for training only, so that a collective that some ranks forgot cannot be
// mistaken for a gradient.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_PROCESS_GROUP_H_
#define TRAINYARD_BACKENDS_PROCESSES_PROCESS_GROUP_H_

#include <c10/core/Device.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

#include "backends/processes/rendezvous.h"

// Include c10d/ProcessGroup.hpp, which is large, to call their methods.
namespace c10d {
class Backend;
class ProcessGroup;
class Store;
}  // namespace c10d

namespace trainyard {

class CallLog;
class OpenExchanges;
class RankRecord;
class RollCall;
class SharedRanks;
class SharedSegment;

struct ProcessGroupOptions {
  Rendezvous rendezvous = {};
  // The device that this process trains on: a CPU or CUDA device.
  at::Device device = at::kCPU;
  // How long to wait for a missing rank, at the start and in every collective.
  // REQUIRES: > 0.
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
  // Whether ranks on one machine exchange CPU tensors through shared memory.
  // The environment variable TRAINYARD_SHARED_MEMORY=0 switches it off, too.
  bool shared_memory = true;
};

class ProcessGroup {
 public:
  // Connects. Throws c10::DistError with the ranks that did not connect within
  // the timeout. Collective.
  explicit ProcessGroup(const ProcessGroupOptions& options);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  const Rendezvous& rendezvous() const { return options_.rendezvous; }
  at::Device device() const { return options_.device; }

  // For gradients and their weights.
  const c10::intrusive_ptr<c10d::ProcessGroup>& training() const {
    return training_;
  }
  // For everything else.
  const c10::intrusive_ptr<c10d::ProcessGroup>& side() const { return side_; }

  // What the ranks wait for each other with. Null if they share no memory.
  SharedRanks* shared_ranks() const { return shared_ranks_; }
  // The exchanges of training(). Null if the ranks share no memory.
  OpenExchanges* shared_exchanges() const { return shared_exchanges_.get(); }
  // Returns memory that all ranks share, zeroed. Null on all ranks if one of
  // them cannot map it. Collective.
  std::shared_ptr<SharedSegment> MakeSegment(size_t bytes);

  // Creates a second connection between the same ranks, for another thread to
  // use its side(). It has no training(). Collective.
  std::unique_ptr<ProcessGroup> ForAnotherThread();

  // Calls `run`, which communicates with other ranks. A network error becomes a
  // c10::DistError that names the missing ranks; other errors are rethrown. The
  // call is in the log as `what`, which must live as long as the program.
  void Guard(
      const char* what, c10::function_ref<void()> run,
      const std::source_location& place = std::source_location::current());

  // The last calls to other ranks, of the thread that uses this group, and the
  // file that they are written to when a call fails.
  CallLog& calls() { return *calls_; }
  RankRecord& record() { return *record_; }

  // Tells the other ranks why this process is about to end.
  void Abandon(const std::string& reason);

 private:
  // A connection for another thread.
  ProcessGroup(const ProcessGroup& first, int64_t number);

  // Makes the group of a name, over shared memory if possible; `area` is
  // the largest piece of an exchange. `on_device`: also with a communicator of
  // the device, if it is not the CPU.
  c10::intrusive_ptr<c10d::ProcessGroup> Connect(const std::string& name,
                                                 size_t area, bool on_device);

  ProcessGroupOptions options_;
  std::shared_ptr<RankRecord> record_;
  CallLog* calls_;  // of the record
  c10::intrusive_ptr<c10d::Store> store_;
  // Of the names in the store.
  std::string prefix_;
  int64_t segments_ = 0;
  SharedRanks* shared_ranks_ = nullptr;  // of training_
  std::shared_ptr<OpenExchanges> shared_exchanges_;
  // Number of groups that ForAnotherThread has made.
  int64_t others_ = 0;
  std::unique_ptr<RollCall> roll_call_;
  c10::intrusive_ptr<c10d::ProcessGroup> training_;
  c10::intrusive_ptr<c10d::ProcessGroup> side_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_PROCESS_GROUP_H_

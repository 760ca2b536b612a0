// Runtime is the state of the stand-in devices of this process: memory,
// streams, events, counts. Kernel is one piece of work on a stream: as long as
// it lives, the CPU may touch the tensors that it uses.
//
// Internal to the stand-in; see standin.h. Thread-safe.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_RUNTIME_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_RUNTIME_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/testing/standin/protected_memory.h"
#include "backends/testing/standin/race_detector.h"
#include "backends/testing/standin/standin_count.h"

namespace trainyard::standin {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
constexpr int kNumDevices = 8;

struct RecordedEvent {
  VectorClock clock;
  int64_t launch = 0;
};

// Work that a graph repeats.
using Replay = std::function<void()>;

class Runtime {
 public:
  // Lives as long as the process.
  static Runtime& Get();

  c10::Allocator* allocator();
  c10::Allocator* pinned_allocator();
  bool IsPinned(const void* data);

  // Of the calling thread.
  c10::DeviceIndex current_device();
  void set_current_device(c10::DeviceIndex index);
  c10::Stream CurrentStream(c10::DeviceIndex index);
  c10::Stream ExchangeStream(c10::Stream stream);
  c10::Stream NewStream(c10::DeviceIndex index);
  c10::Stream PoolStream(c10::DeviceIndex index);

  RecordedEvent Record(c10::Stream stream);
  void StreamWaits(c10::Stream stream, const RecordedEvent& event);
  bool Query(const RecordedEvent& event);
  bool Query(c10::Stream stream);
  // The host waits. `what` did it: an operator or a call.
  void HostWaits(const RecordedEvent& event, const std::string& what);
  void HostWaits(c10::Stream stream, const std::string& what);
  void HostWaitsForDevice(c10::DeviceIndex index);
  // The rest of a call that has waited and was counted.
  void HostIsDoneWith(c10::Stream stream);
  void RecordStream(const void* data, c10::Stream stream);

  void CountCopy(bool to_device, size_t bytes);
  void CountCollective();
  void Report(const std::string& error);

  StandInCount counts();
  int64_t launches();
  std::vector<std::string> synchronizations();
  void ResetCounts();
  std::vector<std::string> TakeErrors();
  void set_lag(int64_t launches);

  // While a graph is captured: Work is recorded, and its effects are undone at
  // the end. Host waits throw.
  void BeginCapture();
  std::vector<Replay> EndCapture();
  bool capturing();
  // Adds to the captured work. Does nothing if no graph is captured.
  void AddReplay(Replay replay);

  // For the fault handler. Empty if the address is not of the stand-in.
  std::string DescribeFault(const void* address);

 private:
  friend class Kernel;
  friend struct DeviceAllocator;
  friend struct PinnedAllocator;

  Runtime();
  void* AllocateBlock(size_t bytes, std::optional<c10::DeviceIndex> device);
  void FreeBlock(void* block);
  int StreamNumber(c10::Stream stream);        // REQUIRES: mutex_ is held
  void CheckMayWait(const std::string& what);  // REQUIRES: mutex_ is held
  void Synchronized(const VectorClock& clock, const std::string& what);
  void ReleasePinned();

  // A pinned block that work on a stream may still use.
  struct PendingPin {
    std::vector<VectorClock> until;
    HostAccess access = HostAccess::kAll;
    std::string operation;
  };

  std::mutex mutex_;
  ProtectedMemory memory_;
  RaceDetector detector_;
  std::map<std::pair<int, c10::StreamId>, int> streams_;
  std::map<void*, bool> pinned_;
  std::map<void*, PendingPin> pending_;
  c10::StreamId next_stream_ = 100;
  int64_t next_pool_stream_ = 0;
  int64_t lag_ = 3;
  StandInCount counts_;
  std::vector<std::string> synchronizations_;
  bool capturing_ = false;
  std::vector<Replay> replays_;
  // The contents, before the capture, of blocks that it wrote.
  std::map<void*, std::string> before_capture_;
};

class Kernel {
 public:
  // Launches on the current stream of the device, or on the given one.
  Kernel(std::string operation, c10::DeviceIndex device);
  Kernel(std::string operation, c10::Stream stream);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Tensors of the device, or pinned ones of the host; others are ignored.
  void Reads(const at::Tensor& tensor) { Use(tensor, /*write=*/false); }
  void Writes(const at::Tensor& tensor) { Use(tensor, /*write=*/true); }

  const std::string& operation() const { return operation_; }
  c10::Stream stream() const { return stream_; }

 private:
  void Use(const at::Tensor& tensor, bool write);

  const std::string operation_;
  const c10::Stream stream_;
  int number_ = 0;
  std::vector<void*> open_;
};

// The operator that the calling thread runs, for messages.
class OperatorName {
 public:
  explicit OperatorName(std::string name);
  ~OperatorName();
  OperatorName(const OperatorName&) = delete;
  OperatorName& operator=(const OperatorName&) = delete;
  static const std::string& Current();

 private:
  std::string before_;
};

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_RUNTIME_H_

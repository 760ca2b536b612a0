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
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/testing/standin/capture.h"
#include "backends/testing/standin/protected_memory.h"
#include "backends/testing/standin/race_detector.h"
#include "backends/testing/standin/standin_count.h"

namespace trainyard::standin {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
constexpr int kNumDevices = 8;

struct RecordedEvent {
  VectorClock clock;
  int64_t launch = 0;
  // The capture that it was recorded in; 0: none.
  int64_t capture = 0;
};

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

  // Captures the current stream of the device. Its work is recorded, with that
  // of streams that wait for it; the effects on memory are undone in the end.
  // What breaks a rule of StepGraph throws.
  void BeginCapture(c10::DeviceIndex index);
  // Throws if a stream was not joined. `keep`: false after an error, which
  // drops what was recorded.
  CapturedWork EndCapture(bool keep);
  // Whether the stream, or the calling thread's current one, is captured.
  bool Captures(c10::Stream stream);
  bool Captures(c10::DeviceIndex index);
  // Adds to the captured work.
  void AddReplay(Replay replay);
  // Repeats it. Throws if memory that it uses was freed.
  void RunReplays(const CapturedWork& work);
  // The graph is gone, and with it the memory that it alone used.
  void DropPool(int64_t pool);

  // For the fault handler. Empty if the address is not of the stand-in.
  std::string DescribeFault(const void* address);

 private:
  friend class Kernel;
  friend struct DeviceAllocator;
  friend struct PinnedAllocator;

  Runtime();
  void* AllocateBlock(size_t bytes, std::optional<c10::DeviceIndex> device);
  void FreeBlock(void* block);
  // REQUIRES, of all until Synchronized: mutex_ is held.
  int StreamNumber(c10::Stream stream);
  bool InCapture(c10::Stream stream) const;
  // The stream waits for the event: it may become a part of the capture.
  void JoinCapture(c10::Stream stream, const RecordedEvent& event);
  // Throws if the host must not wait now for this stream or event.
  void CheckMayWait(bool captured, const std::string& what) const;
  // Work on the stream, and on a block that it uses.
  void CheckMayLaunch(c10::Stream stream, const std::string& operation) const;
  void UsedInCapture(void* block, bool write, const std::string& operation);
  void FreeNow(void* block);
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
  // Unset: no graph is captured.
  std::unique_ptr<Capture> capture_;
  int64_t num_captures_ = 0;
  // Memory of graphs.
  std::map<void*, PoolBlock> pools_;
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

#include "backends/testing/standin/runtime.h"

#include <c10/util/Exception.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace trainyard::standin {
namespace {

thread_local c10::DeviceIndex this_device = 0;
thread_local std::array<c10::StreamId, kNumDevices> this_streams = {};
thread_local std::string this_operator = "the host";

c10::Stream StreamOf(c10::DeviceIndex index, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kType, index), id);
}

// The bytes that a tensor's elements span.
std::pair<uintptr_t, uintptr_t> Span(const at::Tensor& tensor) {
  int64_t elements = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) == 0) return {0, 0};
    elements += (tensor.size(i) - 1) * tensor.stride(i);
  }
  const auto begin = reinterpret_cast<uintptr_t>(tensor.storage().data()) +
                     tensor.storage_offset() * tensor.element_size();
  return {begin, begin + elements * tensor.element_size()};
}

void OnFault(int, siginfo_t* info, void*) {
  const std::string text = Runtime::Get().DescribeFault(info->si_addr);
  if (!text.empty()) {
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, text.data(), text.size());
  }
  // The instruction runs again and ends the process.
  signal(SIGSEGV, SIG_DFL);
}

}  // namespace

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(kType, Runtime::Get().current_device());
    if (bytes == 0) return {nullptr, nullptr, &Free, device};
    void* const block = Runtime::Get().AllocateBlock(bytes, device.index());
    return {block, block, &Free, device};
  }
  static void Free(void* block) {
    if (block != nullptr) Runtime::Get().FreeBlock(block);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void*, const void*, size_t) const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "standin: storage cannot be cloned");
  }
};

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &Free, c10::kCPU};
    void* const block = Runtime::Get().AllocateBlock(bytes, std::nullopt);
    return {block, block, &Free, c10::kCPU};
  }
  static void Free(void* block) {
    if (block != nullptr) Runtime::Get().FreeBlock(block);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

Runtime::Runtime() {
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

Runtime& Runtime::Get() {
  static auto* const runtime = new Runtime;
  return *runtime;
}

c10::Allocator* Runtime::allocator() {
  static auto* const allocator = new DeviceAllocator;
  return allocator;
}

c10::Allocator* Runtime::pinned_allocator() {
  static auto* const allocator = new PinnedAllocator;
  return allocator;
}

void* Runtime::AllocateBlock(size_t bytes,
                             std::optional<c10::DeviceIndex> device) {
  const c10::Stream stream = CurrentStream(device ? *device : current_device());
  const std::lock_guard lock(mutex_);
  void* const block =
      memory_.Allocate(bytes, device ? HostAccess::kNone : HostAccess::kAll);
  if (device) {
    if (InCapture(stream)) pools_[block] = {.pool = capture_->id};
    detector_.AddBlock(reinterpret_cast<uintptr_t>(block), bytes,
                       StreamNumber(stream), this_operator);
    counts_.peak_bytes = std::max<int64_t>(
        counts_.peak_bytes, static_cast<int64_t>(memory_.peak_bytes()));
  } else {
    pinned_[block] = true;
  }
  return block;
}

void Runtime::FreeBlock(void* block) {
  const std::lock_guard lock(mutex_);
  if (const auto it = pools_.find(block); it != pools_.end()) {
    // Stays the graph's.
    it->second.freed = true;
    if (capture_) detector_.CheckFree(reinterpret_cast<uintptr_t>(block));
    return;
  }
  FreeNow(block);
}

void Runtime::FreeNow(void* block) {
  detector_.RemoveBlock(reinterpret_cast<uintptr_t>(block));
  pinned_.erase(block);
  // CUDA's allocator of pinned memory waits for copies by itself.
  pending_.erase(block);
  if (capture_) capture_->before.erase(block);
  memory_.Free(block);
}

bool Runtime::IsPinned(const void* data) {
  const std::lock_guard lock(mutex_);
  void* const block = memory_.Find(data);
  return block != nullptr && pinned_.contains(block);
}

c10::DeviceIndex Runtime::current_device() { return this_device; }

void Runtime::set_current_device(c10::DeviceIndex index) {
  TORCH_CHECK_VALUE(index >= 0 && index < kNumDevices,
                    "standin: there is no device ", static_cast<int>(index));
  this_device = index;
}

c10::Stream Runtime::CurrentStream(c10::DeviceIndex index) {
  return StreamOf(index, this_streams[index]);
}

c10::Stream Runtime::ExchangeStream(c10::Stream stream) {
  const c10::DeviceIndex index = stream.device_index();
  return StreamOf(index, std::exchange(this_streams[index], stream.id()));
}

c10::Stream Runtime::NewStream(c10::DeviceIndex index) {
  const std::lock_guard lock(mutex_);
  return StreamOf(index, next_stream_++);
}

c10::Stream Runtime::PoolStream(c10::DeviceIndex index) {
  const std::lock_guard lock(mutex_);
  return StreamOf(index, 1 + next_pool_stream_++ % 32);
}

int Runtime::StreamNumber(c10::Stream stream) {
  const int device = stream.device_index();
  const auto [it, added] = streams_.emplace(std::pair(device, stream.id()), 0);
  if (added) {
    it->second = detector_.AddStream(std::to_string(stream.id()) +
                                     " of standin:" + std::to_string(device));
  }
  return it->second;
}

RecordedEvent Runtime::Record(c10::Stream stream) {
  const std::lock_guard lock(mutex_);
  return {detector_.Now(StreamNumber(stream)), detector_.launches(),
          InCapture(stream) ? capture_->id : 0};
}

void Runtime::StreamWaits(c10::Stream stream, const RecordedEvent& event) {
  const std::lock_guard lock(mutex_);
  JoinCapture(stream, event);
  ++counts_.stream_waits;
  detector_.StreamWaits(StreamNumber(stream), event.clock);
}

bool Runtime::Query(const RecordedEvent& event) {
  const std::lock_guard lock(mutex_);
  CheckMayWait(event.capture != 0, "a query of an event");
  if (detector_.HostKnows(event.clock)) return true;
  if (detector_.launches() < event.launch + lag_) return false;
  detector_.HostWaits(event.clock);
  ReleasePinned();
  return true;
}

bool Runtime::Query(c10::Stream stream) {
  const std::lock_guard lock(mutex_);
  CheckMayWait(InCapture(stream), "a query of a stream");
  return detector_.HostKnows(detector_.Now(StreamNumber(stream)));
}

void Runtime::Synchronized(const VectorClock& clock, const std::string& what) {
  ++counts_.synchronizations;
  synchronizations_.push_back(what);
  detector_.HostWaits(clock);
  ReleasePinned();
}

void Runtime::HostWaits(const RecordedEvent& event, const std::string& what) {
  const std::lock_guard lock(mutex_);
  CheckMayWait(event.capture != 0, what);
  Synchronized(event.clock, what);
}

void Runtime::HostWaits(c10::Stream stream, const std::string& what) {
  const std::lock_guard lock(mutex_);
  CheckMayWait(InCapture(stream), what);
  Synchronized(detector_.Now(StreamNumber(stream)), what);
}

void Runtime::HostWaitsForDevice(c10::DeviceIndex index) {
  const std::lock_guard lock(mutex_);
  CheckMayWait(capture_ != nullptr, "synchronizeDevice");
  VectorClock all;
  for (const auto& [key, number] : streams_) {
    if (key.first == index) detector_.HostWaits(detector_.Now(number));
  }
  Synchronized(all, "synchronizeDevice");
}

void Runtime::HostIsDoneWith(c10::Stream stream) {
  const std::lock_guard lock(mutex_);
  detector_.HostWaits(detector_.Now(StreamNumber(stream)));
  ReleasePinned();
}

// Lets the host use pinned memory again whose copies it has waited for.
void Runtime::ReleasePinned() {
  std::erase_if(pending_, [&](const auto& item) {
    for (const VectorClock& clock : item.second.until) {
      if (!detector_.HostKnows(clock)) return false;
    }
    memory_.SetHostAccess(item.first, HostAccess::kAll);
    return true;
  });
}

void Runtime::RecordStream(const void* data, c10::Stream stream) {
  const std::lock_guard lock(mutex_);
  void* const block = memory_.Find(data);
  if (block == nullptr) return;
  detector_.RecordStream(reinterpret_cast<uintptr_t>(block),
                         StreamNumber(stream));
}

void Runtime::CountCopy(bool to_device, size_t bytes) {
  const std::lock_guard lock(mutex_);
  ++(to_device ? counts_.copies_to_device : counts_.copies_to_host);
  (to_device ? counts_.bytes_to_device : counts_.bytes_to_host) +=
      static_cast<int64_t>(bytes);
}

void Runtime::CountCollective() {
  const std::lock_guard lock(mutex_);
  ++counts_.collectives;
}

void Runtime::Report(const std::string& error) {
  const std::lock_guard lock(mutex_);
  detector_.Report(error);
}

StandInCount Runtime::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

int64_t Runtime::launches() {
  const std::lock_guard lock(mutex_);
  return detector_.launches();
}

std::vector<std::string> Runtime::synchronizations() {
  const std::lock_guard lock(mutex_);
  return synchronizations_;
}

void Runtime::ResetCounts() {
  const std::lock_guard lock(mutex_);
  counts_ = {};
  synchronizations_.clear();
  memory_.ResetPeak();
  counts_.peak_bytes = static_cast<int64_t>(memory_.bytes_in_use());
}

std::vector<std::string> Runtime::TakeErrors() {
  const std::lock_guard lock(mutex_);
  return detector_.TakeErrors();
}

void Runtime::set_lag(int64_t launches) {
  const std::lock_guard lock(mutex_);
  lag_ = launches;
}

std::string Runtime::DescribeFault(const void* address) {
  if (!memory_.Contains(address)) return "";
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return "standin: the host touched closed memory\n";
  void* const block = memory_.Find(address);
  if (block == nullptr) {
    return "standin: the host touched freed memory, or memory past a block\n";
  }
  if (const auto it = pending_.find(block); it != pending_.end()) {
    return "standin: the host touched page-locked memory that " +
           it->second.operation +
           " may still use; wait for the stream or for an event after it\n";
  }
  return "standin: the host touched memory of the device: " +
         detector_.Describe(reinterpret_cast<uintptr_t>(block)) +
         "; copy it to the host first\n";
}

Kernel::Kernel(std::string operation, c10::DeviceIndex device)
    : Kernel(std::move(operation), Runtime::Get().CurrentStream(device)) {}

Kernel::Kernel(std::string operation, c10::Stream stream)
    : operation_(std::move(operation)), stream_(stream) {
  Runtime& runtime = Runtime::Get();
  const std::lock_guard lock(runtime.mutex_);
  runtime.CheckMayLaunch(stream_, operation_);
  number_ = runtime.StreamNumber(stream_);
  runtime.detector_.Launch(number_);
  ++runtime.counts_.kernels;
}

Kernel::~Kernel() {
  Runtime& runtime = Runtime::Get();
  const std::lock_guard lock(runtime.mutex_);
  for (void* block : open_) runtime.memory_.Close(block);
}

void Kernel::Use(const at::Tensor& tensor, bool write) {
  if (!tensor.defined() || !tensor.has_storage() || tensor.numel() == 0) return;
  Runtime& runtime = Runtime::Get();
  const std::lock_guard lock(runtime.mutex_);
  void* const block = runtime.memory_.Find(tensor.storage().data());
  if (block == nullptr) return;  // ordinary memory of the host
  runtime.memory_.Open(block);
  open_.push_back(block);
  const bool recorded = runtime.InCapture(stream_);
  if (recorded) runtime.UsedInCapture(block, write, operation_);
  if (runtime.pinned_.contains(block)) {
    if (recorded) return;
    Runtime::PendingPin& pending = runtime.pending_[block];
    pending.until.push_back(runtime.detector_.Now(number_));
    pending.operation = operation_;
    // The host may still read what a copy reads.
    pending.access =
        std::min(pending.access, write ? HostAccess::kNone : HostAccess::kRead);
    runtime.memory_.SetHostAccess(block, pending.access);
    return;
  }
  const auto [begin, end] = Span(tensor);
  runtime.detector_.Access({begin, end, write}, number_, operation_);
}

OperatorName::OperatorName(std::string name)
    : before_(std::exchange(this_operator, std::move(name))) {}

OperatorName::~OperatorName() { this_operator = std::move(before_); }

const std::string& OperatorName::Current() { return this_operator; }

}  // namespace trainyard::standin

#include "trainer/exported/memory_limit.h"

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>
#include <unistd.h>

namespace trainyard {
namespace {

class Counter final : public c10::MemoryReportingInfoBase {
 public:
  explicit Counter(int64_t max_bytes) : max_bytes_(max_bytes) {}

  // After the allocation, and before it is used.
  void reportMemoryUsage(void* data, int64_t size, size_t allocated, size_t,
                         c10::Device device) override {
    if (!device.is_cpu()) return;
    used_ += size;  // negative for what is freed
    if (size <= 0 || used_ <= max_bytes_) return;
    const int64_t wanted = used_;
    // The allocator forgets what it got when this throws: free it here, which
    // is reported, too. A file that was mapped has no sum of allocated bytes.
    if (allocated > 0) c10::GetAllocator(c10::kCPU)->raw_deleter()(data);
    TORCH_CHECK_VALUE(false, "tensors would take ", wanted,
                      " bytes; the limit is ", max_bytes_);
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  int64_t max_bytes_;
  int64_t used_ = 0;
};

}  // namespace

MemoryLimit::MemoryLimit(int64_t max_bytes)
    : guard_(c10::DebugInfoKind::PROFILER_STATE,
             std::make_shared<Counter>(max_bytes)) {}

MemoryLimit::~MemoryLimit() = default;

int64_t MachineMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace trainyard

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
  void reportMemoryUsage(void*, int64_t size, size_t, size_t,
                         c10::Device device) override {
    if (!device.is_cpu()) return;
    used_ += size;  // negative for what is freed
    TORCH_CHECK_VALUE(size <= 0 || used_ <= max_bytes_, "tensors would take ",
                      used_, " bytes; the limit is ", max_bytes_);
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

#include "finetuning/testing/tensor_memory.h"

#include <c10/core/Allocator.h>

#include <algorithm>

namespace trainyard {

class TensorMemory::Counter final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t size, size_t, size_t,
                         c10::Device device) override {
    if (!device.is_cpu()) return;
    current += size;  // negative when memory is freed
    peak = std::max(peak, current);
  }
  bool memoryProfilingEnabled() const override { return true; }

  int64_t current = 0;
  int64_t peak = 0;
};

TensorMemory::TensorMemory()
    : counter_(std::make_shared<Counter>()),
      guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}

TensorMemory::~TensorMemory() = default;

int64_t TensorMemory::current() const { return counter_->current; }
int64_t TensorMemory::peak() const { return counter_->peak; }
void TensorMemory::ResetPeak() { counter_->peak = counter_->current; }

}  // namespace trainyard

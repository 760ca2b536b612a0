#include "tools/bench/counting_allocator.h"

#include <algorithm>
#include <memory>

namespace trainyard {

struct CountingAllocator::Held {
  c10::DataPtr data;
  size_t bytes;
};

CountingAllocator& CountingAllocator::Get() {
  static auto* const allocator = new CountingAllocator;
  return *allocator;
}

CountingAllocator::CountingAllocator()
    : base_(*c10::GetAllocator(c10::DeviceType::CPU)) {
  c10::SetAllocator(c10::DeviceType::CPU, this, /*priority=*/100);
}

c10::DataPtr CountingAllocator::allocate(size_t bytes) {
  auto* const held = new Held{base_.allocate(bytes), bytes};
  Add(static_cast<int64_t>(bytes));
  return {held->data.get(), held, &Free, c10::DeviceType::CPU};
}

void CountingAllocator::copy_data(void* to, const void* from,
                                  size_t bytes) const {
  base_.copy_data(to, from, bytes);
}

int64_t CountingAllocator::current() {
  const std::lock_guard lock(mutex_);
  return current_;
}

int64_t CountingAllocator::peak() {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void CountingAllocator::ResetPeak() {
  const std::lock_guard lock(mutex_);
  peak_ = current_;
}

void CountingAllocator::Free(void* context) {
  const std::unique_ptr<Held> held(static_cast<Held*>(context));
  Get().Add(-static_cast<int64_t>(held->bytes));
}

void CountingAllocator::Add(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  current_ += bytes;
  peak_ = std::max(peak_, current_);
}

}  // namespace trainyard

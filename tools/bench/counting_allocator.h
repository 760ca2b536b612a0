// CountingAllocator counts the bytes of all CPU tensors of this process.
//
//   CountingAllocator& memory = CountingAllocator::Get();
//   const at::Tensor tensor = at::ones({256});
//   EXPECT_EQ(memory.current(), 1024);
//
// Tensors that were made before the first call of Get do not count.
// Thread-safe.
#ifndef TRAINYARD_TOOLS_BENCH_COUNTING_ALLOCATOR_H_
#define TRAINYARD_TOOLS_BENCH_COUNTING_ALLOCATOR_H_

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace trainyard {

class CountingAllocator final : public c10::Allocator {
 public:
  // Serves the process from the first call on.
  static CountingAllocator& Get();

  c10::DataPtr allocate(size_t bytes) override;
  void copy_data(void* to, const void* from, size_t bytes) const override;

  int64_t current();
  // The largest sum since the last reset.
  int64_t peak();
  void ResetPeak();

 private:
  struct Held;

  CountingAllocator();
  static void Free(void* context);
  void Add(int64_t bytes);

  c10::Allocator& base_;
  std::mutex mutex_;
  int64_t current_ = 0;
  int64_t peak_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_BENCH_COUNTING_ALLOCATOR_H_

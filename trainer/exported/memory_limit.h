// MemoryLimit bounds the memory that tensors take on this thread while it
// lives: an allocation that would exceed it throws before anything is written
// to it.
//
//   const MemoryLimit limit(1 << 20);
//   EXPECT_THROW(at::zeros({1 << 20}), c10::ValueError);
//
// Only memory of the CPU counts, and what is freed meanwhile counts back. A
// profiler of memory hears nothing while it lives. Thread-compatible.
#ifndef TRAINYARD_TRAINER_EXPORTED_MEMORY_LIMIT_H_
#define TRAINYARD_TRAINER_EXPORTED_MEMORY_LIMIT_H_

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

namespace trainyard {

class MemoryLimit {
 public:
  // REQUIRES: max_bytes >= 0.
  explicit MemoryLimit(int64_t max_bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  c10::DebugInfoGuard guard_;
};

// The memory of this machine, in bytes.
int64_t MachineMemory();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_MEMORY_LIMIT_H_

// TensorMemory counts the bytes of CPU tensors that this thread allocates
// during its lifetime, for tests and benchmarks of memory use.
//
//   TensorMemory memory;
//   TrainStep();
//   const int64_t bytes = memory.peak();  // the most at one time
//
// Tensors that existed before are not counted. REQUIRES: one TensorMemory per
// thread at a time. Backward passes on the CPU run on the calling thread.
#ifndef TRAINYARD_FINETUNING_TESTING_TENSOR_MEMORY_H_
#define TRAINYARD_FINETUNING_TESTING_TENSOR_MEMORY_H_

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

namespace trainyard {

class TensorMemory {
 public:
  TensorMemory();
  ~TensorMemory();
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;

  int64_t current() const;
  int64_t peak() const;
  // Restarts the peak from the current number.
  void ResetPeak();

 private:
  class Counter;
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_TESTING_TENSOR_MEMORY_H_

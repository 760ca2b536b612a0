// TensorMemory counts the bytes of tensors on the host that this thread makes
// while it lives, for tests and benchmarks of what training needs.
//
//   TensorMemory memory;
//   TrainStep();
//   memory.peak();      // the most that was there at once
//
// Tensors from before are not counted. One at a time per thread; backward
// passes on the CPU run on the thread that calls them.
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
  // What is there now is the most so far.
  void ResetPeak();

 private:
  class Counter;
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_TESTING_TENSOR_MEMORY_H_

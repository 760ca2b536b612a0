// PlanMemory says what a rank needs to train a model with AdamW: the bytes of
// weights, gradients, state and the buffers of exchanges.
//
//   for (const MemoryPlan& plan :
//        PlanMemory({.parameters = 1'000'000'000, .ranks = 8})) {
//     out << plan.backend << " " << plan.total() << "\n";
//   }
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_MEMORY_PLAN_H_
#define TRAINYARD_TOOLS_INSPECT_MEMORY_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct MemoryQuestion {
  // Elements of all parameters, which are float32. REQUIRES: 1 to 10^15.
  int64_t parameters = 0;
  // REQUIRES: 1 to 1,000,000.
  int64_t ranks = 1;
  // Elements of the largest parameter. Unset: it fills a bucket. REQUIRES: >= 1
  // and <= parameters, if set.
  std::optional<int64_t> largest = std::nullopt;
  // Elements of the largest unit under fsdp. Unset: the model declares none.
  // REQUIRES: >= `largest` and <= parameters, if set.
  std::optional<int64_t> unit = std::nullopt;
  // As in ZeroOptions. REQUIRES: >= 1.
  int64_t bucket_bytes = int64_t{25} << 20;
};

// Bytes of tensors on each rank. Inputs and activations come on top; so does
// the shared memory by which ranks of one machine exchange tensors.
struct MemoryPlan {
  std::string backend;
  int64_t weights = 0;
  // What is held when the optimizer updates.
  int64_t gradients = 0;
  int64_t state = 0;
  // The most that is needed beside these in a backward pass or an update: the
  // gradient that is computed, the buckets on their way, and under fsdp the
  // parameters that are whole. For a model of fewer than three buckets, or
  // units, it is an upper bound.
  int64_t exchange = 0;

  int64_t total() const { return weights + gradients + state + exchange; }
};

// Returns the plans of "ddp", "zero1", "zero2" and "fsdp". Throws
// std::invalid_argument, naming the field, for a value that is out of range.
std::vector<MemoryPlan> PlanMemory(const MemoryQuestion& question);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_MEMORY_PLAN_H_

#include "trainer/loop/micro_batch.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace trainyard {

MicroBatch SplitBatch(int64_t batch_size, int64_t limit) {
  if (batch_size < 1 || limit < 1) {
    throw std::invalid_argument(
        "SplitBatch: batch_size is " + std::to_string(batch_size) +
        " and limit is " + std::to_string(limit) + "; both must be at least 1");
  }
  int64_t size = std::min(batch_size, limit);
  while (batch_size % size != 0) --size;
  return {.size = size, .grad_accum_steps = batch_size / size};
}

int64_t EstimatedUpdatesPerEpoch(int64_t batches, int64_t grad_accum_steps,
                                 std::optional<int64_t> max_updates) {
  if (batches == 0) return 0;
  const int64_t estimate = batches / grad_accum_steps + 1;
  return std::min(estimate, max_updates.value_or(estimate));
}

}  // namespace trainyard

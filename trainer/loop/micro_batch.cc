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

}  // namespace trainyard

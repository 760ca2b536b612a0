// Splits a batch that does not fit into memory into equal micro-batches that
// do, so that gradients can be accumulated over them.
//
//   const MicroBatch split = SplitBatch(/*batch_size=*/96, /*limit=*/40);
//   // split.size == 32, split.grad_accum_steps == 3
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_LOOP_MICRO_BATCH_H_
#define TRAINYARD_TRAINER_LOOP_MICRO_BATCH_H_

#include <cstdint>

namespace trainyard {

struct MicroBatch {
  int64_t size = 0;
  int64_t grad_accum_steps = 0;
};

// The largest size that divides the batch and is within the limit; at worst 1,
// as for a batch of 7 and a limit of 3. Throws std::invalid_argument for a
// batch or limit below 1.
MicroBatch SplitBatch(int64_t batch_size, int64_t limit);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_MICRO_BATCH_H_

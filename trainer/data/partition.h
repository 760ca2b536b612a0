// Partition is how an epoch's order is cut into global batches, and each of
// those among the ranks: arithmetic on positions, nothing else. A global batch
// is the next batch_size * num_ranks samples; the rank takes its slice of it.
// So any number of ranks with the same global batch sees the same global
// batches, and every rank sees equally many.
//
//   Partition partition({.samples = 10, .batch_size = 2, .rank = 1,
//                        .num_ranks = 2});
//   partition.At(/*first_sample=*/0, /*batch=*/1);  // positions 6 and 7
//
// The batches may start at any sample: what is left of an epoch is cut in the
// same way, whatever number of ranks was there before. Free of libtorch.
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_PARTITION_H_
#define TRAINYARD_TRAINER_DATA_PARTITION_H_

#include <cstdint>

namespace trainyard {

// What becomes of the samples at an epoch's end that do not fill a global
// batch.
enum class LastBatch {
  // They are the last batch, shared as evenly as can be. Each sample is seen
  // exactly once. A rank for which none is left gets one row of padding.
  kUneven,
  // They are filled up with padding: all batches have batch_size rows.
  kPad,
  // They are left out.
  kDrop,
};

struct PartitionOptions {
  // Samples in an epoch. REQUIRES: >= 1.
  int64_t samples = 0;
  // Samples per batch of one rank. REQUIRES: >= 1.
  int64_t batch_size = 1;
  // REQUIRES: 0 <= rank < num_ranks.
  int64_t rank = 0;
  int64_t num_ranks = 1;
  LastBatch last_batch = LastBatch::kUneven;
};

class Partition {
 public:
  // Rows of a batch: the samples at positions begin, begin + 1, … of the
  // epoch's order; positions past its end continue at its start. `size` of them
  // count, the `padding` after those do not.
  struct Rows {
    int64_t begin = 0;
    int64_t size = 0;
    int64_t padding = 0;
    bool operator==(const Rows&) const = default;
  };

  explicit Partition(const PartitionOptions& options);

  int64_t samples() const { return options_.samples; }

  // Batches of what is left of an epoch from `first_sample` on.
  int64_t Batches(int64_t first_sample = 0) const;

  // This rank's rows of such a batch. REQUIRES: batch < Batches(first_sample).
  Rows At(int64_t first_sample, int64_t batch) const;

  // Where the epoch stands, in samples of all ranks, after that many batches.
  int64_t Position(int64_t first_sample, int64_t batches) const;

 private:
  PartitionOptions options_;
  int64_t global_batch_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_PARTITION_H_

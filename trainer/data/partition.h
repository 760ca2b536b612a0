// Partition divides an epoch into global batches, and each global batch among
// the ranks: arithmetic on positions only. A global batch is the next
// batch_size * num_ranks samples; each rank takes its slice. So any number of
// ranks with the same global batch size sees the same global batches, and all
// ranks have equally many.
//
//   Partition partition({.samples = 10, .batch_size = 2, .rank = 1,
//                        .num_ranks = 2});
//   partition.At(/*first_sample=*/0, /*batch=*/1);  // positions 6 and 7
//
// The batches may start at any sample: the rest of an epoch is divided in the
// same way, whatever the number of ranks was before. Free of libtorch.
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_PARTITION_H_
#define TRAINYARD_TRAINER_DATA_PARTITION_H_

#include <cstdint>

namespace trainyard {

// What to do with the samples at the end of an epoch that do not fill a global
// batch.
enum class LastBatch {
  // They are the last batch, in shares that differ by at most one. Each sample
  // occurs exactly once. A rank without a share gets one row of padding.
  kUneven,
  // Padding is added: all batches have batch_size rows.
  kPad,
  // They are dropped.
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
  // epoch's order, which wrap around at its end. `size` rows count; the
  // `padding` rows after them do not.
  struct Rows {
    int64_t begin = 0;
    int64_t size = 0;
    int64_t padding = 0;
    bool operator==(const Rows&) const = default;
  };

  explicit Partition(const PartitionOptions& options);

  int64_t samples() const { return options_.samples; }

  // Batches from `first_sample` to the end of an epoch.
  int64_t Batches(int64_t first_sample = 0) const;

  // This rank's rows of one of these batches. REQUIRES: batch <
  // Batches(first_sample).
  Rows At(int64_t first_sample, int64_t batch) const;

  // Samples that all ranks together have after `batches` of these batches.
  int64_t Position(int64_t first_sample, int64_t batches) const;

 private:
  PartitionOptions options_;
  int64_t global_batch_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_PARTITION_H_

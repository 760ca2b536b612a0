#include "trainer/data/partition.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

void Require(bool holds, const char* field, int64_t value, const char* wanted) {
  if (holds) return;
  throw std::invalid_argument(std::string("Partition: ") + field + " is " +
                              std::to_string(value) + "; " + wanted);
}

}  // namespace

Partition::Partition(const PartitionOptions& options) : options_(options) {
  Require(options.samples >= 1, "samples", options.samples,
          "it must be at least 1");
  Require(options.batch_size >= 1, "batch_size", options.batch_size,
          "it must be at least 1");
  Require(options.num_ranks >= 1, "num_ranks", options.num_ranks,
          "it must be at least 1");
  Require(options.rank >= 0 && options.rank < options.num_ranks, "rank",
          options.rank, "it must be at least 0 and below num_ranks");
  Require(options.batch_size <=
              std::numeric_limits<int64_t>::max() / options.num_ranks / 4,
          "batch_size", options.batch_size, "batch_size * num_ranks overflows");
  global_batch_ = options.batch_size * options.num_ranks;
}

int64_t Partition::Batches(int64_t first_sample) const {
  const int64_t left = options_.samples - first_sample;
  const bool one_more =
      options_.last_batch != LastBatch::kDrop && left % global_batch_ != 0;
  return left / global_batch_ + (one_more ? 1 : 0);
}

Partition::Rows Partition::At(int64_t first_sample, int64_t batch) const {
  const int64_t start = first_sample + batch * global_batch_;
  const int64_t left = options_.samples - start;
  const int64_t full = options_.batch_size;
  const int64_t begin = start + options_.rank * full;
  if (left >= global_batch_) return {begin, full, 0};
  if (options_.last_batch == LastBatch::kPad) {
    const int64_t size = std::clamp<int64_t>(options_.samples - begin, 0, full);
    return {begin, size, full - size};
  }
  // Equal shares; the first ranks have one more if there is a remainder.
  const int64_t share = left / options_.num_ranks;
  const int64_t larger = left % options_.num_ranks;
  const int64_t size = share + (options_.rank < larger ? 1 : 0);
  return {start + options_.rank * share + std::min(options_.rank, larger), size,
          size == 0 ? 1 : 0};
}

int64_t Partition::Position(int64_t first_sample, int64_t batches) const {
  return std::min(options_.samples, first_sample + batches * global_batch_);
}

}  // namespace trainyard

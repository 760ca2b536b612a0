// ShardLayout says which elements of a tensor belong to which rank. Every
// tensor is cut on its own, in the order of its rows, into one range per rank.
// So the layout depends on nothing but the number of ranks: not on the backend,
// on buckets, or on which other parameters are trained.
//
//   const ShardLayout layout(/*ranks=*/4);
//   const ShardRange mine = layout.RangeOf(weight.numel(), rank);
//   const at::Tensor slice = SliceOf(weight, mine.begin, mine.count);
//
// Thread-safe.
#ifndef TRAINYARD_BACKENDS_SHARDED_SHARD_LAYOUT_H_
#define TRAINYARD_BACKENDS_SHARDED_SHARD_LAYOUT_H_

#include <algorithm>
#include <cstdint>

namespace trainyard {

struct ShardRange {
  int64_t begin = 0;
  int64_t count = 0;
};

class ShardLayout {
 public:
  // Ranges are multiples of this many elements, except for the last one: a
  // cache line of floats.
  static constexpr int64_t kUnit = 16;

  // REQUIRES: ranks >= 1.
  explicit ShardLayout(int64_t ranks) : ranks_(ranks) {}

  int64_t ranks() const { return ranks_; }

  // The largest range of a tensor with this many elements: that of rank 0.
  int64_t Largest(int64_t numel) const {
    const int64_t even = (numel + ranks_ - 1) / ranks_;
    return std::min(numel, (even + kUnit - 1) / kUnit * kUnit);
  }

  // The range of a rank. Empty for the last ranks of a small tensor.
  ShardRange RangeOf(int64_t numel, int64_t rank) const {
    const int64_t largest = Largest(numel);
    const int64_t begin = std::min(numel, rank * largest);
    return {begin, std::min(largest, numel - begin)};
  }

 private:
  int64_t ranks_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_SHARD_LAYOUT_H_

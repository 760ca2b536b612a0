// PadToLongest makes one batch of sequences of different lengths: it pads the
// shorter ones at the end and keeps the lengths. For collate functions:
//
//   MakeItemDataset<at::Tensor>(size, get, [](std::vector<at::Tensor> items) {
//     return AnyBatch(PadToLongest(items));
//   });
//
// Thread-safe: no state.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_PAD_TO_LONGEST_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_PAD_TO_LONGEST_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace trainyard {

struct PadToLongestOptions {
  // Value of the padding.
  double value = 0.0;
  // The length of the batch is rounded up to a multiple of this, which some
  // kernels need to be fast. REQUIRES: >= 1.
  int64_t multiple_of = 1;
};

struct PaddedSequences {
  // N x L x …
  at::Tensor values;
  // int64, N.
  at::Tensor lengths;
  auto tensors() { return std::tie(values, lengths); }

  // N x L, true where there is a value.
  at::Tensor Mask() const;
};

// Sequences are L x …, with equal other sizes. REQUIRES: at least one.
PaddedSequences PadToLongest(const std::vector<at::Tensor>& sequences,
                             const PadToLongestOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_PAD_TO_LONGEST_H_

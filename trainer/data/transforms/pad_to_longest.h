// PadToLongest makes one batch of sequences of different lengths: the shorter
// ones are filled up at the end, and how long each was is kept. For collate
// functions:
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
  // What shorter sequences are filled up with.
  double value = 0.0;
  // The batch's length is rounded up to a multiple of this, for kernels that
  // like round numbers. REQUIRES: >= 1.
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

// Sequences are L x …, equal but for L. REQUIRES: at least one.
PaddedSequences PadToLongest(const std::vector<at::Tensor>& sequences,
                             const PadToLongestOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_PAD_TO_LONGEST_H_

// LengthGroupedSampler puts samples of like length into the same batch, so that
// little is spent on padding them, and is otherwise as random as can be: pools
// of random samples are sorted by length and cut into batches, and the batches
// are shuffled.
//
//   LengthGroupedSampler sampler(lengths, {.batch_size = 32, .seed = 1});
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLERS_LENGTH_GROUPED_H_
#define TRAINYARD_TRAINER_DATA_SAMPLERS_LENGTH_GROUPED_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trainer/data/sampler.h"

namespace trainyard {

struct LengthGroupedSamplerOptions {
  // Samples of a batch, of all ranks together. REQUIRES: >= 1.
  int64_t batch_size = 1;
  // Batches that are sorted together: more of them waste less, and mix less.
  // REQUIRES: >= 1.
  int64_t pool_batches = 50;
  // Whether the batch with the longest sample comes first, so that too little
  // memory is noticed at once and not after hours.
  bool longest_first = true;
  uint64_t seed = 0;
};

class LengthGroupedSampler final : public Sampler {
 public:
  // `lengths`: one per sample. REQUIRES: at least one.
  LengthGroupedSampler(const at::Tensor& lengths,
                       const LengthGroupedSamplerOptions& options);
  int64_t size() const override { return lengths_.size(0); }
  at::Tensor Order(int64_t epoch) const override;

 private:
  at::Tensor lengths_;
  LengthGroupedSamplerOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLERS_LENGTH_GROUPED_H_

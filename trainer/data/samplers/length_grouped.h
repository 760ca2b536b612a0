// LengthGroupedSampler puts samples of similar length into the same batch, so
// that little padding is needed, and stays random otherwise: it sorts pools of
// random samples by length, cuts them into batches and shuffles the batches.
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
  // Samples of a batch on all ranks together. REQUIRES: >= 1.
  int64_t batch_size = 1;
  // Batches that are sorted together. More need less padding and shuffle less.
  // REQUIRES: >= 1.
  int64_t pool_batches = 50;
  // Puts the batch with the longest sample first: if memory is too small, the
  // run fails at its start.
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

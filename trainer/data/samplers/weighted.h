// WeightedSampler takes samples more or less often by weight: of classes that
// are rare, or of samples that are hard.
//
//   WeightedSampler sampler(at::tensor({1.0, 1.0, 8.0}), {.seed = 1});
//   sampler.Order(0);  // 2 about 8 times in 10
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLERS_WEIGHTED_H_
#define TRAINYARD_TRAINER_DATA_SAMPLERS_WEIGHTED_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trainer/data/sampler.h"

namespace trainyard {

struct WeightedSamplerOptions {
  // Samples in an epoch; 0: as many as there are weights.
  int64_t num_samples = 0;
  // Whether a sample may be taken several times in an epoch. If not, the
  // heavier come earlier, and REQUIRES: num_samples weights are above 0.
  bool replacement = true;
  uint64_t seed = 0;
};

class WeightedSampler final : public Sampler {
 public:
  // `weights`: one per sample, any scale. REQUIRES: finite, not negative, not
  // all 0.
  WeightedSampler(const at::Tensor& weights,
                  const WeightedSamplerOptions& options);
  int64_t size() const override { return options_.num_samples; }
  at::Tensor Order(int64_t epoch) const override;

 private:
  WeightedSamplerOptions options_;
  // Of samples whose weight is not 0: index, weight, sum of weights up to it.
  at::Tensor indices_, weights_, sums_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLERS_WEIGHTED_H_

// WeightedSampler draws samples in proportion to their weights: rare classes or
// hard samples more often.
//
//   WeightedSampler sampler(at::tensor({1.0, 1.0, 8.0}), {.seed = 1});
//   sampler.Order(0);  // 2 about 8 times in 10
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLERS_WEIGHTED_H_
#define TRAINYARD_TRAINER_DATA_SAMPLERS_WEIGHTED_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "trainer/data/sampler.h"

namespace trainyard {

struct WeightedSamplerOptions {
  // Samples in an epoch. Unset: the number of weights. REQUIRES: >= 1.
  std::optional<int64_t> num_samples = std::nullopt;
  // Whether a sample may be drawn several times in an epoch. If not, heavier
  // samples tend to come first. REQUIRES, if not: at least num_samples weights
  // above 0.
  bool replacement = true;
  uint64_t seed = 0;
};

class WeightedSampler final : public Sampler {
 public:
  // `weights`: one per sample, at any scale. REQUIRES: finite, not negative,
  // not all 0.
  WeightedSampler(const at::Tensor& weights,
                  const WeightedSamplerOptions& options);
  int64_t size() const override { return num_samples_; }
  at::Tensor Order(int64_t epoch) const override;

 private:
  WeightedSamplerOptions options_;
  int64_t num_samples_;
  // For samples with a weight above 0: index, weight, cumulative weight.
  at::Tensor indices_, weights_, sums_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLERS_WEIGHTED_H_

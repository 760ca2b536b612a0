// SubsetSampler gives epochs of selected samples: with a seed in another random
// order each epoch, without one in the given order. An index that is given
// twice occurs twice.
//
//   SubsetSampler sampler(at::tensor({3, 5, 8}, at::kLong), /*seed=*/1);
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLERS_SUBSET_H_
#define TRAINYARD_TRAINER_DATA_SAMPLERS_SUBSET_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "trainer/data/sampler.h"

namespace trainyard {

class SubsetSampler final : public Sampler {
 public:
  // REQUIRES: `indices` is 1-dimensional, of int64, and not empty.
  explicit SubsetSampler(const at::Tensor& indices,
                         std::optional<uint64_t> seed = std::nullopt);
  int64_t size() const override { return indices_.size(0); }
  at::Tensor Order(int64_t epoch) const override;

 private:
  at::Tensor indices_;
  std::optional<ShuffledSampler> shuffled_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLERS_SUBSET_H_

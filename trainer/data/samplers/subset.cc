#include "trainer/data/samplers/subset.h"

#include <c10/util/Exception.h>

namespace trainyard {

SubsetSampler::SubsetSampler(const at::Tensor& indices,
                             std::optional<uint64_t> seed) {
  TORCH_CHECK_VALUE(
      indices.defined() && indices.dim() == 1 && indices.size(0) > 0 &&
          indices.scalar_type() == at::kLong,
      "SubsetSampler: indices must be a list of int64 numbers, and not empty");
  indices_ = indices.cpu().contiguous();
  if (seed) shuffled_.emplace(indices_.size(0), *seed);
}

at::Tensor SubsetSampler::Order(int64_t epoch) const {
  return shuffled_ ? indices_.index_select(0, shuffled_->Order(epoch))
                   : indices_;
}

}  // namespace trainyard

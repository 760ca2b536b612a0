#include "backends/sharded/tensor_buckets.h"

namespace trainyard {

std::vector<std::vector<size_t>> GroupIntoBuckets(
    const std::vector<at::Tensor>& tensors, size_t first_bytes, size_t bytes) {
  std::vector<std::vector<size_t>> buckets;
  size_t filled = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    const size_t limit = buckets.size() <= 1 ? first_bytes : bytes;
    if (i == 0 || filled + tensor.nbytes() > limit ||
        tensor.scalar_type() != tensors[i - 1].scalar_type() ||
        tensor.device() != tensors[i - 1].device()) {
      buckets.emplace_back();
      filled = 0;
    }
    buckets.back().push_back(i);
    filled += tensor.nbytes();
  }
  return buckets;
}

}  // namespace trainyard

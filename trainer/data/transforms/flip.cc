#include "trainer/data/transforms/flip.h"

#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <vector>

namespace trainyard {

at::Tensor RandomFlip(const at::Tensor& images,
                      const RandomFlipOptions& options, BatchRandom& random) {
  CheckImages("RandomFlip", images, random);
  TORCH_CHECK_VALUE(options.probability >= 0 && options.probability <= 1,
                    "RandomFlip: probability is ", options.probability);
  std::vector<int64_t> chosen;
  for (size_t row = 0; row < random.size(); ++row) {
    if (random[row].Chance(options.probability))
      chosen.push_back(static_cast<int64_t>(row));
  }
  if (chosen.empty()) return images;
  const at::Tensor rows = at::tensor(chosen, images.options().dtype(at::kLong));
  return images.index_copy(
      0, rows, images.index_select(0, rows).flip(options.vertical ? -2 : -1));
}

}  // namespace trainyard

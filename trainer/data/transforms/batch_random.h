// BatchRandom holds the random numbers for the rows of a batch: element i for
// row i. They depend on the sample of that row only (sample_random.h).
//
//   BatchRandom random = BatchRandomOf(indices, seed, epoch);
//
// MapBatches passes them to functions that take them.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_BATCH_RANDOM_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_BATCH_RANDOM_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <vector>

#include "trainer/data/sample_random.h"

namespace trainyard {

using BatchRandom = std::vector<SampleRandom>;

// For the samples at `indices`, a 1-dimensional int64 tensor on the CPU.
inline BatchRandom BatchRandomOf(const at::Tensor& indices, uint64_t seed,
                                 int64_t epoch) {
  const at::Tensor contiguous = indices.contiguous();
  const int64_t* const index = contiguous.const_data_ptr<int64_t>();
  BatchRandom random;
  random.reserve(static_cast<size_t>(contiguous.numel()));
  for (int64_t row = 0; row < contiguous.numel(); ++row)
    random.emplace_back(SampleKey(seed, epoch, index[row]));
  return random;
}

// Throws c10::ValueError with the name of the transform unless `images` is N x
// … x H x W and `random` has one element per image.
inline void CheckImages(const char* transform, const at::Tensor& images,
                        const BatchRandom& random) {
  TORCH_CHECK_VALUE(images.defined() && images.dim() >= 3, transform,
                    ": images must be N x … x H x W");
  TORCH_CHECK_VALUE(images.size(0) == static_cast<int64_t>(random.size()),
                    transform, ": ", images.size(0), " images, but ",
                    random.size(), " sources of random numbers");
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_BATCH_RANDOM_H_

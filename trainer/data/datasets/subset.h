// SubsetOf selects samples of a dataset; RandomSplit divides it into random
// parts.
//
//   const DatasetPtr first_hundred = SubsetOf(data, at::arange(100));
//   const std::vector<DatasetPtr> parts = RandomSplit(
//       data, SplitSizes(data->size(), {0.9, 0.1}), /*seed=*/1);
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_SUBSET_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_SUBSET_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "trainer/data/dataset.h"

namespace trainyard {

// The samples at `indices`, in that order. REQUIRES: a 1-dimensional int64
// tensor of indices of `data`, not empty.
DatasetPtr SubsetOf(DatasetPtr data, const at::Tensor& indices);

// Disjoint parts of the given sizes, which depend on `seed` only. REQUIRES: the
// sizes are above 0, and their sum is the size of the dataset.
std::vector<DatasetPtr> RandomSplit(const DatasetPtr& data,
                                    const std::vector<int64_t>& sizes,
                                    uint64_t seed);

// Sizes proportional to `fractions` whose sum is `total`. REQUIRES: every
// fraction is above 0, and their sum is 1.
std::vector<int64_t> SplitSizes(int64_t total,
                                const std::vector<double>& fractions);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_SUBSET_H_

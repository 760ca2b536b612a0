// Dataset is where batches come from: a number of samples, and any of them by
// index, many at a time. The order in which they are asked for is the sampler's
// business.
//
//   const AnyBatch batch = dataset.Gather(at::tensor({5, 0, 3}));
//
// Thread-safe: const calls may come from several threads.
#ifndef TRAINYARD_TRAINER_DATA_DATASET_H_
#define TRAINYARD_TRAINER_DATA_DATASET_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "trainer/data/batch.h"

namespace trainyard {

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual int64_t size() const = 0;

  // The samples at `indices`, a 1-dimensional int64 tensor on the CPU, in that
  // order.
  virtual AnyBatch Gather(const at::Tensor& indices) const = 0;

  // As Gather, in the given epoch. Only a dataset that is random about its
  // samples, or wraps one that may be, overrides it: the randomness is a
  // function of the epoch and the sample's index (sample_random.h).
  virtual AnyBatch GatherIn(int64_t /*epoch*/,
                            const at::Tensor& indices) const {
    return Gather(indices);
  }
};

using DatasetPtr = std::shared_ptr<const Dataset>;

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASET_H_

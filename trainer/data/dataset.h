// Dataset is a collection of samples that can be read by index, many at a time.
// A Sampler decides the order in which they are read.
//
//   const AnyBatch batch = dataset.Gather(at::tensor({5, 0, 3}, at::kLong));
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

  // Returns the samples at `indices`, a 1-dimensional int64 tensor on the CPU,
  // in that order.
  virtual AnyBatch Gather(const at::Tensor& indices) const = 0;

  // Like Gather, in the given epoch. Override it if samples are random, or may
  // be in a wrapped dataset: randomness must depend on the epoch and the index
  // of the sample only (sample_random.h).
  virtual AnyBatch GatherIn(int64_t /*epoch*/,
                            const at::Tensor& indices) const {
    return Gather(indices);
  }
};

using DatasetPtr = std::shared_ptr<const Dataset>;

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASET_H_

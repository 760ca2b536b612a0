// Loader turns a dataset and a sampler into the batches of an epoch. A batch is
// gathered as a whole, with slices of the order tensor for indices: nothing is
// done sample by sample.
//
//   Loader loader(data, std::make_shared<ShuffledSampler>(data->size(), seed),
//   {.batch_size = 128}); loader.StartEpoch(0); while (std::optional<AnyBatch>
//   batch = loader.Next()) { … }
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_LOADER_H_
#define TRAINYARD_TRAINER_DATA_LOADER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "trainer/data/batch.h"
#include "trainer/data/dataset.h"
#include "trainer/data/sampler.h"

namespace trainyard {

struct LoaderOptions {
  // Samples per batch. REQUIRES: >= 1.
  int64_t batch_size = 1;
  // Leaves out the last batch if it is smaller than the others.
  bool drop_last = false;
};

class Loader {
 public:
  // REQUIRES: the sampler gives indices of the dataset, and an epoch has at
  // least one batch.
  Loader(DatasetPtr dataset, std::shared_ptr<const Sampler> sampler,
         LoaderOptions options);

  int64_t batches_per_epoch() const { return batches_; }
  int64_t batch_size() const { return options_.batch_size; }

  // Goes to the given batch of the given epoch, at once.
  void StartEpoch(int64_t epoch, int64_t first_batch = 0);

  // The next batch, or nothing at the epoch's end.
  std::optional<AnyBatch> Next();

 private:
  DatasetPtr dataset_;
  std::shared_ptr<const Sampler> sampler_;
  LoaderOptions options_;
  int64_t batches_;
  at::Tensor order_;
  int64_t next_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_LOADER_H_

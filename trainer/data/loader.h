// Loader makes the batches of an epoch from a dataset and a sampler, for one
// rank of several. The sampler decides the order; ranks, workers and
// prefetching only divide the work.
//
//   Loader loader(data, std::make_shared<ShuffledSampler>(data->size(), 1),
//                 {.batch_size = 128});
//   loader.StartEpoch(0);
//   while (const std::optional<AnyBatch> batch = loader.Next()) Use(*batch);
//
// The position is one number: samples of the epoch that all ranks together have
// received. A loader resumes there at once, also with another number of ranks,
// workers or samples per batch:
//
//   loader.StartEpoch(epoch, /*first_sample=*/51200);
//
// SaveState and LoadState do that for a checkpoint.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_LOADER_H_
#define TRAINYARD_TRAINER_DATA_LOADER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/batch_source.h"
#include "trainer/data/dataset.h"
#include "trainer/data/loader_options.h"
#include "trainer/data/ordered_workers.h"
#include "trainer/data/partition.h"
#include "trainer/data/sampler.h"
#include "trainer/state.h"

namespace trainyard {

// Makes a batch of its samples, each of them a batch of one row.
using CollateSamples = std::function<AnyBatch(std::vector<AnyBatch> samples)>;

class Loader final : public BatchSource {
 public:
  // Without `collate`, batches are those that the dataset's Gather makes.
  // REQUIRES: the sampler gives indices of the dataset, and an epoch has at
  // least one batch.
  Loader(DatasetPtr dataset, std::shared_ptr<const Sampler> sampler,
         const LoaderOptions& options, CollateSamples collate = nullptr);
  Loader(Loader&&) = default;
  Loader& operator=(Loader&&) = default;

  // Both are always known.
  std::optional<int64_t> batches_per_epoch() const override {
    return partition_.Batches();
  }
  std::optional<int64_t> batches_left() const override {
    return batches_ - next_;
  }
  int64_t batch_size() const { return options_.batch_size; }

  // Throws what the dataset throws when it is that batch's turn; the next call
  // returns the batch after it.
  std::optional<AnyBatch> Next() override;

  int64_t position() const override {
    return partition_.Position(first_sample_, next_);
  }

  // The state also holds the samples of an epoch: LoadState throws
  // c10::ValueError if they differ.
  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  // Takes as long for the last sample as for the first.
  void Start(int64_t epoch, int64_t first_sample) override;

  DatasetPtr dataset_;
  std::shared_ptr<const Sampler> sampler_;
  LoaderOptions options_;
  CollateSamples collate_;
  Partition partition_;
  int64_t first_sample_ = 0;
  // Batches from first_sample_ to the end of the epoch.
  int64_t batches_ = 0;
  int64_t next_ = 0;
  OrderedWorkers<AnyBatch>::Make make_;
  std::unique_ptr<OrderedWorkers<AnyBatch>> workers_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_LOADER_H_

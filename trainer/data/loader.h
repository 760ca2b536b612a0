// Loader turns a dataset and a sampler into the batches of an epoch, on one
// rank of several. The order is the sampler's; ranks, workers and prefetching
// only divide the work.
//
//   Loader loader(data, std::make_shared<ShuffledSampler>(data->size(), 1),
//                 {.batch_size = 128});
//   loader.StartEpoch(0);
//   while (const std::optional<AnyBatch> batch = loader.Next()) Use(*batch);
//
// Where it stands is one number: samples of the epoch that all ranks together
// have been given. From there it goes on at once, also with another number of
// ranks, workers or samples per batch:
//
//   loader.StartEpoch(epoch, /*first_sample=*/51200);
//
// SaveState and LoadState do that for a checkpoint.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_LOADER_H_
#define TRAINYARD_TRAINER_DATA_LOADER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "trainer/data/batch.h"
#include "trainer/data/dataset.h"
#include "trainer/data/ordered_workers.h"
#include "trainer/data/partition.h"
#include "trainer/data/sampler.h"
#include "trainer/state.h"

namespace trainyard {

struct LoaderOptions {
  // Samples per batch of this rank. One that is larger than the dataset gives
  // one smaller batch. REQUIRES: >= 1.
  int64_t batch_size = 1;
  // What becomes of samples that do not fill a batch of all ranks.
  LastBatch last_batch = LastBatch::kUneven;
  // This process among those that share each epoch. REQUIRES: 0 <= rank <
  // num_ranks.
  int64_t rank = 0;
  int64_t num_ranks = 1;
  // Threads that make batches ahead of time; 0: Next makes them. Worth it where
  // a sample takes work (decoding, transforms), not for tensors in memory.
  // REQUIRES: >= 0.
  int64_t num_workers = 0;
  // Batches that workers make ahead of Next, the bound on memory; 0: two per
  // worker. REQUIRES: >= 0.
  int64_t prefetch = 0;
  // Puts batches into page-locked memory, from where they are copied to a GPU
  // without waiting. REQUIRES: CUDA, if true.
  bool pin_memory = false;
};

class Loader final : public Stateful {
 public:
  // REQUIRES: the sampler gives indices of the dataset, and an epoch has at
  // least one batch.
  Loader(DatasetPtr dataset, std::shared_ptr<const Sampler> sampler,
         LoaderOptions options);
  Loader(Loader&&) = default;
  Loader& operator=(Loader&&) = default;

  // Of a whole epoch; equal on all ranks.
  int64_t batches_per_epoch() const { return partition_.Batches(); }
  // That Next will still give in this epoch; equal on all ranks.
  int64_t batches_left() const { return batches_ - next_; }
  int64_t batch_size() const { return options_.batch_size; }

  // Goes to the given sample of the given epoch. Takes as long for the last
  // sample as for the first. REQUIRES: epoch >= 0, 0 <= first_sample <= samples
  // of an epoch.
  void StartEpoch(int64_t epoch, int64_t first_sample = 0);

  // The next batch, or nothing at the epoch's end. Throws what the dataset
  // throws, at that batch's turn; the batch is then passed over.
  std::optional<AnyBatch> Next();

  // Where the loader stands: the epoch last started, and its samples that all
  // ranks have been given so far. All that must be remembered.
  int64_t epoch() const { return epoch_; }
  int64_t position() const { return partition_.Position(first_sample_, next_); }

  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  DatasetPtr dataset_;
  std::shared_ptr<const Sampler> sampler_;
  LoaderOptions options_;
  Partition partition_;
  int64_t epoch_ = 0;
  int64_t first_sample_ = 0;
  // Of the epoch from first_sample_ on.
  int64_t batches_ = 0;
  int64_t next_ = 0;
  OrderedWorkers<AnyBatch>::Make make_;
  std::unique_ptr<OrderedWorkers<AnyBatch>> workers_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_LOADER_H_

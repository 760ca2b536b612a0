#include "trainer/data/loader.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <c10/util/Exception.h>

#include <utility>
#include <vector>

namespace trainyard {
namespace {

Partition CheckedPartition(const Dataset* dataset, const Sampler* sampler,
                           const LoaderOptions& options) {
  TORCH_CHECK_VALUE(dataset != nullptr, "Loader: the dataset is null");
  TORCH_CHECK_VALUE(sampler != nullptr, "Loader: the sampler is null");
  TORCH_CHECK_VALUE(dataset->size() > 0, "Loader: the dataset is empty");
  const int64_t samples = sampler->size();
  TORCH_CHECK_VALUE(samples > 0, "Loader: the sampler has no samples");
  CheckLoaderOptions("Loader", options);
  const Partition partition({.samples = samples,
                             .batch_size = options.batch_size,
                             .rank = options.rank,
                             .num_ranks = options.num_ranks,
                             .last_batch = options.last_batch});
  TORCH_CHECK_VALUE(
      partition.Batches() > 0, "Loader: ", samples,
      " samples do not fill one batch of ", options.num_ranks, " x ",
      options.batch_size,
      ", and last_batch is kDrop: no batch is left; use a smaller batch_size "
      "or another last_batch");
  return partition;
}

// Positions beyond the end of the order wrap around.
at::Tensor IndicesOf(const at::Tensor& order, const Partition::Rows& rows) {
  const int64_t count = rows.size + rows.padding;
  if (rows.begin + count <= order.size(0)) {
    return order.narrow(0, rows.begin, count);
  }
  const at::Tensor positions =
      at::arange(rows.begin, rows.begin + count, at::kLong);
  return order.index_select(0, positions.remainder(order.size(0)));
}

// The samples at `indices`, each as a batch of one row.
std::vector<AnyBatch> Samples(const Dataset& dataset, int64_t epoch,
                              const at::Tensor& indices) {
  std::vector<AnyBatch> samples;
  for (int64_t i = 0; i < indices.size(0); ++i)
    samples.push_back(dataset.GatherIn(epoch, indices.narrow(0, i, 1)));
  return samples;
}

}  // namespace

Loader::Loader(DatasetPtr dataset, std::shared_ptr<const Sampler> sampler,
               const LoaderOptions& options, CollateSamples collate)
    : dataset_(std::move(dataset)),
      sampler_(std::move(sampler)),
      options_(options),
      collate_(std::move(collate)),
      partition_(CheckedPartition(dataset_.get(), sampler_.get(), options_)) {}

void Loader::Start(int64_t epoch, int64_t first_sample) {
  TORCH_CHECK_VALUE(first_sample <= partition_.samples(),
                    "Loader: first_sample is ", first_sample,
                    ", but an epoch has ", partition_.samples(), " samples");
  workers_.reset();
  first_sample_ = first_sample;
  batches_ = partition_.Batches(first_sample);
  next_ = 0;
  // Captures by value: the function must survive a move of the loader.
  make_ = [dataset = dataset_, collate = collate_, partition = partition_,
           order = sampler_->Order(epoch), epoch, first_sample,
           pin = options_.pin_memory](int64_t batch) {
    const at::NoGradGuard no_gradients;
    const Partition::Rows rows = partition.At(first_sample, batch);
    const at::Tensor indices = IndicesOf(order, rows);
    AnyBatch made = collate ? collate(Samples(*dataset, epoch, indices))
                            : dataset->GatherIn(epoch, indices);
    if (rows.padding > 0) made = made.WithPadding(rows.padding);
    return pin ? made.PinMemory() : made;
  };
  if (options_.num_workers == 0 || batches_ == 0) return;
  workers_ = std::make_unique<OrderedWorkers<AnyBatch>>(
      OrderedWorkersOptions{.workers = options_.num_workers,
                            .ahead = PrefetchOf(options_)},
      batches_, [make = make_](int64_t batch) {
        UseOneThreadHere();
        return make(batch);
      });
}

std::optional<AnyBatch> Loader::Next() {
  if (next_ == batches_) return std::nullopt;
  const int64_t batch = next_++;
  return workers_ != nullptr ? workers_->Next() : make_(batch);
}

State Loader::SaveState() const {
  State state = BatchSource::SaveState();
  state.Set("samples", partition_.samples());
  return state;
}

void Loader::LoadState(const State& state) {
  const int64_t samples = state.Get<int64_t>("samples");
  TORCH_CHECK_VALUE(
      samples == partition_.samples(), "Loader: the state was saved with ",
      samples, " samples per epoch; now an epoch has ", partition_.samples(),
      ". Resume with the same data and sampler");
  BatchSource::LoadState(state);
}

}  // namespace trainyard

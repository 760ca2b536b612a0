#include "trainer/data/loader.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <c10/util/Exception.h>

#include <utility>

// Of libgomp, which libtorch brings. Its header comes with g++ only.
extern "C" void omp_set_num_threads(int threads);

namespace trainyard {
namespace {

constexpr int64_t kStateVersion = 1;

Partition CheckedPartition(const Dataset* dataset, const Sampler* sampler,
                           const LoaderOptions& options) {
  TORCH_CHECK_VALUE(dataset != nullptr, "Loader: there is no dataset");
  TORCH_CHECK_VALUE(sampler != nullptr, "Loader: there is no sampler");
  TORCH_CHECK_VALUE(dataset->size() > 0, "Loader: the dataset is empty");
  const int64_t samples = sampler->size();
  TORCH_CHECK_VALUE(samples > 0, "Loader: the sampler gives no samples");
  TORCH_CHECK_VALUE(options.batch_size >= 1, "Loader: batch_size is ",
                    options.batch_size, "; it must be at least 1");
  TORCH_CHECK_VALUE(options.num_ranks >= 1 && options.rank >= 0 &&
                        options.rank < options.num_ranks,
                    "Loader: there is no rank ", options.rank, " of ",
                    options.num_ranks);
  TORCH_CHECK_VALUE(options.num_workers >= 0, "Loader: num_workers is ",
                    options.num_workers, "; it must not be negative");
  TORCH_CHECK_VALUE(options.prefetch >= 0, "Loader: prefetch is ",
                    options.prefetch, "; it must not be negative");
  TORCH_CHECK_VALUE(!options.pin_memory || at::globalContext().hasCUDA(),
                    "Loader: pin_memory is set, but there is no CUDA device to "
                    "copy to");
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

// Positions past the order's end continue at its start.
at::Tensor IndicesOf(const at::Tensor& order, const Partition::Rows& rows) {
  const int64_t count = rows.size + rows.padding;
  if (rows.begin + count <= order.size(0)) {
    return order.narrow(0, rows.begin, count);
  }
  const at::Tensor positions =
      at::arange(rows.begin, rows.begin + count, at::kLong);
  return order.index_select(0, positions.remainder(order.size(0)));
}

// The workers are the parallelism: threads of OpenMP under each of them would
// only fight for the cores. This holds for the calling thread alone, unlike
// at::set_num_threads.
void UseOneThreadHere() {
  at::get_num_threads();  // sets this thread up, which would undo it later
  omp_set_num_threads(1);
}

}  // namespace

Loader::Loader(DatasetPtr dataset, std::shared_ptr<const Sampler> sampler,
               LoaderOptions options)
    : dataset_(std::move(dataset)),
      sampler_(std::move(sampler)),
      options_(options),
      partition_(CheckedPartition(dataset_.get(), sampler_.get(), options_)) {
  if (options_.prefetch == 0) options_.prefetch = 2 * options_.num_workers;
}

void Loader::StartEpoch(int64_t epoch, int64_t first_sample) {
  TORCH_CHECK_VALUE(epoch >= 0, "Loader: there is no epoch ", epoch);
  TORCH_CHECK_VALUE(first_sample >= 0 && first_sample <= partition_.samples(),
                    "Loader: sample ", first_sample, " is not in an epoch of ",
                    partition_.samples());
  workers_.reset();
  epoch_ = epoch;
  first_sample_ = first_sample;
  batches_ = partition_.Batches(first_sample);
  next_ = 0;
  // By value: it outlives a move of the loader.
  make_ = [dataset = dataset_, partition = partition_,
           order = sampler_->Order(epoch), epoch, first_sample,
           pin = options_.pin_memory](int64_t batch) {
    const at::NoGradGuard no_gradients;
    const Partition::Rows rows = partition.At(first_sample, batch);
    AnyBatch made = dataset->GatherIn(epoch, IndicesOf(order, rows));
    if (rows.padding > 0) made = made.WithPadding(rows.padding);
    if (!pin) return made;
    return made.Map([](const at::Tensor& tensor) {
      return tensor.is_cpu() ? tensor.pin_memory() : tensor;
    });
  };
  if (options_.num_workers == 0 || batches_ == 0) return;
  workers_ = std::make_unique<OrderedWorkers<AnyBatch>>(
      OrderedWorkersOptions{.workers = options_.num_workers,
                            .ahead = options_.prefetch},
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
  State state(kStateVersion);
  state.Set("epoch", epoch_);
  state.Set("position", position());
  state.Set("samples", partition_.samples());
  return state;
}

void Loader::LoadState(const State& state) {
  state.CheckVersion(kStateVersion);
  const int64_t samples = state.Get<int64_t>("samples");
  TORCH_CHECK_VALUE(samples == partition_.samples(),
                    "Loader: the position was saved in epochs of ", samples,
                    " samples; now an epoch has ", partition_.samples());
  StartEpoch(state.Get<int64_t>("epoch"), state.Get<int64_t>("position"));
}

}  // namespace trainyard

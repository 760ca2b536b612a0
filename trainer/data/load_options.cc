#include "trainer/data/load_options.h"

#include <c10/util/Exception.h>

#include <utility>

#include "trainer/accelerator.h"
#include "trainer/data/loader.h"
#include "trainer/data/loader_options.h"

namespace trainyard {
namespace {

const char* NameOf(LastBatch last_batch) {
  switch (last_batch) {
    case LastBatch::kUneven:
      return "uneven";
    case LastBatch::kPad:
      return "padded";
    case LastBatch::kDrop:
      return "dropped";
  }
  return "unknown";
}

LoaderOptions OptionsOf(const LoaderRequest& request) {
  const LoadOptions& load = request.load;
  return {
      .batch_size = request.batch_size,
      .last_batch = load.last_batch,
      .rank = request.rank,
      .num_ranks = request.num_ranks,
      .num_workers = load.num_workers,
      .prefetch = load.prefetch,
      .pin_memory = load.pin_memory.value_or(AcceleratorType().has_value())};
}

// `make_sampler` makes the default one.
template <class MakeSampler>
std::unique_ptr<BatchSource> Load(const LoaderRequest& request,
                                  const MakeSampler& make_sampler) {
  TORCH_CHECK_VALUE(
      request.data != nullptr,
      "there is no data to load: set TrainOptions::data or "
      "TrainOptions::source, or override the task's TrainLoader and "
      "EvalLoader");
  std::shared_ptr<const Sampler> sampler = request.load.sampler;
  if (sampler == nullptr) sampler = make_sampler();
  return std::make_unique<Loader>(request.data, std::move(sampler),
                                  OptionsOf(request), request.load.collate);
}

}  // namespace

std::string ToString(const LoadOptions& load) {
  const LoaderOptions options{.num_workers = load.num_workers,
                              .prefetch = load.prefetch};
  std::string text = "workers " + std::to_string(load.num_workers);
  if (load.num_workers > 0)
    text += ", prefetch " + std::to_string(PrefetchOf(options));
  if (load.pin_memory.value_or(false)) text += ", pinned";
  text += std::string(", last batch ") + NameOf(load.last_batch);
  if (load.sampler != nullptr) text += ", own sampler";
  if (load.collate != nullptr) text += ", own collate";
  return text;
}

std::unique_ptr<BatchSource> LoadShuffled(const LoaderRequest& request) {
  return Load(request, [&] {
    return std::make_shared<ShuffledSampler>(request.data->size(),
                                             request.seed);
  });
}

std::unique_ptr<BatchSource> LoadInOrder(const LoaderRequest& request) {
  return Load(request, [&] {
    return std::make_shared<SequentialSampler>(request.data->size());
  });
}

}  // namespace trainyard

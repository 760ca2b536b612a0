// LoadOptions say how a run loads its data; LoaderRequest adds what the loader
// is for. LoadShuffled and LoadInOrder make loaders for training and
// evaluation.
//
//   const LoadOptions load{.num_workers = 2, .last_batch = LastBatch::kDrop};
//   std::unique_ptr<BatchSource> source = LoadShuffled(
//       {.data = data, .batch_size = 32, .seed = 1, .load = load});
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_LOAD_OPTIONS_H_
#define TRAINYARD_TRAINER_DATA_LOAD_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/batch_source.h"
#include "trainer/data/dataset.h"
#include "trainer/data/partition.h"
#include "trainer/data/sampler.h"

namespace trainyard {

struct LoadOptions {
  // Threads that make batches in advance. 0: the loop makes them. They pay if a
  // sample takes time (decoding, transforms) and a core is free; results do not
  // depend on them. REQUIRES: >= 0.
  int64_t num_workers = 0;
  // Batches made in advance, which bounds memory. Unset: two per worker.
  // REQUIRES: >= 1.
  std::optional<int64_t> prefetch = std::nullopt;
  // Puts batches into page-locked memory, so that copies to a GPU are
  // asynchronous. Unset: if there is an accelerator. REQUIRES: an accelerator,
  // if true.
  std::optional<bool> pin_memory = std::nullopt;
  // What to do with samples that do not fill a batch on all ranks.
  LastBatch last_batch = LastBatch::kUneven;
  // The order of the samples. Null: shuffled by the seed of the run for
  // training, in the order of the dataset for evaluation.
  std::shared_ptr<const Sampler> sampler = nullptr;
  // Makes a batch of its samples, each a batch of one row. Null: the dataset
  // does.
  std::function<AnyBatch(std::vector<AnyBatch> samples)> collate = nullptr;
};

// As people read them: "workers 2, prefetch 4, last batch uneven".
std::string ToString(const LoadOptions& load);

// What a source of batches is made for.
struct LoaderRequest {
  // Null if the run has no dataset.
  DatasetPtr data;
  // Samples per batch of one rank.
  int64_t batch_size = 0;
  uint64_t seed = 0;
  // This process among those that share the data.
  int64_t rank = 0;
  int64_t num_ranks = 1;
  LoadOptions load = {};
};

// Makes the source of batches for one rank.
using MakeSource =
    std::function<std::unique_ptr<BatchSource>(const LoaderRequest& request)>;

// A Loader with the sampler of the request or, without one, with a
// ShuffledSampler or a SequentialSampler. Throw c10::ValueError if there is no
// data or an option is invalid.
std::unique_ptr<BatchSource> LoadShuffled(const LoaderRequest& request);
std::unique_ptr<BatchSource> LoadInOrder(const LoaderRequest& request);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_LOAD_OPTIONS_H_

// LoaderOptions are the options that Loader and StreamLoader share: how large a
// batch is, which rank it is for, and who makes it when.
//
//   const LoaderOptions options{.batch_size = 128, .num_workers = 2};
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_LOADER_OPTIONS_H_
#define TRAINYARD_TRAINER_DATA_LOADER_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "trainer/data/partition.h"

namespace trainyard {

struct LoaderOptions {
  // Samples per batch of this rank. If the dataset has fewer, its only batch is
  // smaller. REQUIRES: >= 1.
  int64_t batch_size = 1;
  // What to do with samples that do not fill a batch on all ranks.
  LastBatch last_batch = LastBatch::kUneven;
  // This process among those that share each epoch. REQUIRES: 0 <= rank <
  // num_ranks.
  int64_t rank = 0;
  int64_t num_ranks = 1;
  // Threads that make batches in advance; 0: Next makes them. Workers pay if a
  // sample takes time (decoding, transforms), not for tensors in memory. A
  // stream has one reader: for StreamLoader any number above 0 means one
  // thread. REQUIRES: >= 0.
  int64_t num_workers = 0;
  // Batches that workers make in advance, which bounds memory. Unset: two per
  // worker. REQUIRES: >= 1.
  std::optional<int64_t> prefetch = std::nullopt;
  // Puts batches into page-locked memory, so that copies to a GPU are
  // asynchronous. REQUIRES: an accelerator, if true.
  bool pin_memory = false;
};

// Throws c10::ValueError with the name of the loader, the field and its value.
void CheckLoaderOptions(const char* loader, const LoaderOptions& options);

// `prefetch`, or its default.
int64_t PrefetchOf(const LoaderOptions& options);

// Limits ATen to one thread on the calling thread, a worker: workers are the
// parallelism, and OpenMP threads under each of them would compete for the same
// cores. Other threads keep their setting.
void UseOneThreadHere();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_LOADER_OPTIONS_H_

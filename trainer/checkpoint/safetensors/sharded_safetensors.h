// Reads and writes tensors that are split over several safetensors files with
// an index, in the format of Hugging Face's libraries.
//
//   auto read = ReadShardedSafetensors("llama/model.safetensors.index.json");
//   absl::Status written = WriteShardedSafetensors(
//       "out", tensors, {.max_shard_bytes = 5'000'000'000});
//
// Thread-safe while nobody writes to the tensors.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SHARDED_SAFETENSORS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SHARDED_SAFETENSORS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

// Returns the tensors in name order. `path` is a safetensors file, an index, or
// a folder that contains model.safetensors or its index. Returns DataLoss if
// the files do not contain exactly the tensors of the index.
absl::StatusOr<std::vector<NamedTensor>> ReadShardedSafetensors(
    const std::string& path);

struct ShardOptions {
  // Names the files: "<group>.safetensors", "<group>-00001-of-00002…".
  std::string group = "model";
  // The maximum size of a file, unless a single tensor is larger.
  // REQUIRES: >= 1.
  uint64_t max_shard_bytes = 5'000'000'000;
};

// Writes the files into an existing folder. The index, if one is needed, is
// written last.
absl::Status WriteShardedSafetensors(const std::string& folder,
                                     const std::vector<NamedTensor>& tensors,
                                     const ShardOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SHARDED_SAFETENSORS_H_

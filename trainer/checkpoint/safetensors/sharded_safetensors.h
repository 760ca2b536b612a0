// Weights spread over several safetensors files with an index, as Hugging
// Face's libraries keep large models.
//
//   auto read = ReadShardedSafetensors("llama/model.safetensors.index.json");
//   absl::Status written = WriteShardedSafetensors(
//       "out", tensors, {.max_shard_bytes = 5'000'000'000});
//
// Thread-safe, as long as nobody writes to the tensors meanwhile.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SHARDED_SAFETENSORS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SHARDED_SAFETENSORS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

// The tensors, in name order. `path` is a safetensors file, an index, or a
// folder with model.safetensors or its index in it. DataLoss if the files do
// not hold what the index says, all of it and nothing else.
absl::StatusOr<std::vector<NamedTensor>> ReadShardedSafetensors(
    const std::string& path);

struct ShardOptions {
  // The files' name: "<group>.safetensors", "<group>-00001-of-00002…".
  std::string group = "model";
  // A file has no more bytes of tensors, unless of a single one. REQUIRES: > 0.
  uint64_t max_shard_bytes = 5'000'000'000;
};

// Into a folder that is there. The index, if there is one, is written last.
absl::Status WriteShardedSafetensors(const std::string& folder,
                                     const std::vector<NamedTensor>& tensors,
                                     const ShardOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SHARDED_SAFETENSORS_H_

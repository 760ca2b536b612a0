// The index of weights that are spread over several files, as Hugging Face's
// libraries write and read it: model.safetensors.index.json. Free of libtorch.
//
//   {"metadata": {"total_size": 48},
//    "weight_map": {"a.weight": "model-00001-of-00002.safetensors", …}}
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_SHARD_INDEX_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_SHARD_INDEX_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct ShardIndex {
  // Bytes of all tensors. Readers do not need it.
  uint64_t total_size = 0;
  // Which file a tensor is in.
  std::map<std::string, std::string> weight_map;
};

// "model.safetensors", or "model-00001-of-00002.safetensors" for the first
// (index 0) of two.
std::string ShardName(std::string_view group, int index, int count);
// "model.safetensors.index.json".
std::string ShardIndexName(std::string_view group);

std::string FormatShardIndex(const ShardIndex& index);

// DataLoss, with the reason, for what is no index: a tensor twice, a file name
// that could lead out of the folder.
absl::StatusOr<ShardIndex> ParseShardIndex(std::string_view json);

// Which of `count` shards each tensor belongs to, so that all are of about one
// size. Sizes are in the order of the tensors; the same for every caller.
std::vector<int> SplitBySize(const std::vector<uint64_t>& sizes, int count);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_SHARD_INDEX_H_

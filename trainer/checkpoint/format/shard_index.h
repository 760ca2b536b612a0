// The index of tensors that are split over several files, in the format of
// Hugging Face's libraries: model.safetensors.index.json. Free of libtorch.
//
//   {"metadata": {"total_size": 48},
//    "weight_map": {"a.weight": "model-00001-of-00002.safetensors", …}}
//
//   absl::StatusOr<ShardIndex> index = ParseShardIndex(json);
//   const std::string file = index->weight_map.at("a.weight");
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
  // Bytes of all tensors. Not needed for reading.
  uint64_t total_size = 0;
  // The file of each tensor.
  std::map<std::string, std::string> weight_map;
};

// Returns "model.safetensors", or "model-00001-of-00002.safetensors" for the
// first (index 0) of two shards.
std::string ShardName(std::string_view group, int index, int count);
// Returns "model.safetensors.index.json".
std::string ShardIndexName(std::string_view group);

std::string FormatShardIndex(const ShardIndex& index);

// Returns DataLoss, with the reason, for an invalid index, e.g. one with a
// tensor twice or with a file name that refers to another folder.
absl::StatusOr<ShardIndex> ParseShardIndex(std::string_view json);

// Assigns each tensor to one of `count` shards of about the same size. `sizes`
// are the bytes of the tensors. The result depends on the arguments only.
std::vector<int> SplitBySize(const std::vector<uint64_t>& sizes, int count);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_SHARD_INDEX_H_

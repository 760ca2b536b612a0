#include "trainer/checkpoint/format/shard_index.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "trainer/checkpoint/format/manifest.h"
#include "trainer/io/json_reader.h"
#include "trainer/io/json_writer.h"

namespace trainyard {
namespace {

// Reads a map of names to names. Returns false and sets the reader's error
// otherwise.
bool ReadWeightMap(JsonReader& json, ShardIndex& index) {
  std::string name;
  std::string file;
  if (!json.BeginObject()) return false;
  while (json.NextKey(name)) {
    if (name.size() > kMaxTensorName)
      return json.Fail("a tensor's name is too long");
    if (index.weight_map.contains(name))
      return json.Fail("a tensor comes twice");
    if (!json.ReadString(file)) return false;
    if (!IsFileName(file)) return json.Fail("this is no name of a file here");
    index.weight_map.emplace(std::move(name), file);
  }
  return json.ok();
}

// total_size is a number that some writers format as a double: 1e3, 48.0.
bool ReadMetadata(JsonReader& json, ShardIndex& index) {
  std::string key;
  if (!json.BeginObject()) return false;
  while (json.NextKey(key)) {
    if (key != "total_size") {
      json.Skip();
      continue;
    }
    double total = 0;
    if (!json.ReadDouble(total)) return false;
    if (!(total >= 0 && total < 9.2e18)) return json.Fail("this is no size");
    index.total_size = static_cast<uint64_t>(total);
  }
  return json.ok();
}

}  // namespace

std::string ShardName(std::string_view group, int index, int count) {
  if (count == 1) return absl::StrFormat("%s.safetensors", group);
  return absl::StrFormat("%s-%05d-of-%05d.safetensors", group, index + 1,
                         count);
}

std::string ShardIndexName(std::string_view group) {
  return absl::StrFormat("%s.safetensors.index.json", group);
}

std::string FormatShardIndex(const ShardIndex& index) {
  JsonWriter json(JsonWriter::Layout::kLines);
  json.BeginObject();
  json.Key("metadata").BeginObject();
  json.Key("total_size").Raw(absl::StrCat(index.total_size));
  json.EndObject();
  json.Key("weight_map").BeginObject();
  for (const auto& [name, file] : index.weight_map) json.Key(name).String(file);
  json.EndObject();
  json.EndObject();
  return json.text() + "\n";
}

absl::StatusOr<ShardIndex> ParseShardIndex(std::string_view text) {
  ShardIndex index;
  JsonReader json(text);
  std::string key;
  bool mapped = false;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (key == "weight_map") {
      if (mapped) json.Fail("weight_map comes twice");
      mapped = ReadWeightMap(json, index);
    } else if (key == "metadata" && json.Peek() == '{') {
      ReadMetadata(json, index);
    } else {
      json.Skip();
    }
  }
  if (json.ok() && json.End() && !mapped) {
    return absl::DataLossError("the index has no weight_map");
  }
  if (!json.ok()) {
    return absl::DataLossError(
        absl::StrCat("the index: ", json.status().message()));
  }
  return index;
}

std::vector<int> SplitBySize(const std::vector<uint64_t>& sizes, int count) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // The largest tensor first, each to the smallest shard.
  std::stable_sort(order.begin(), order.end(), [&sizes](size_t a, size_t b) {
    return sizes[a] > sizes[b];
  });
  std::vector<uint64_t> load(static_cast<size_t>(count), 0);
  std::vector<int> shard(sizes.size(), 0);
  for (const size_t tensor : order) {
    const auto least = std::min_element(load.begin(), load.end());
    // Plus one byte, so that empty tensors are spread too and no shard is
    // empty.
    *least += sizes[tensor] + 1;
    shard[tensor] = static_cast<int>(least - load.begin());
  }
  return shard;
}

}  // namespace trainyard

#include "trainer/checkpoint/safetensors/sharded_safetensors.h"

#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "trainer/checkpoint/format/shard_index.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/io/atomic_file.h"
#include "trainer/io/file_system.h"
#include "trainer/io/input_file.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

// Far more than any model needs.
constexpr uint64_t kMaxIndex = uint64_t{64} << 20;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

absl::StatusOr<ShardIndex> ReadIndex(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  if (file->size() > kMaxIndex) {
    return absl::DataLossError(absl::StrCat(path, ": has ", file->size(),
                                            " bytes, more than ", kMaxIndex));
  }
  std::string text(file->size(), '\0');
  const absl::Status read = file->ReadAt(0, text.data(), text.size());
  if (!read.ok()) return read;
  absl::StatusOr<ShardIndex> index = ParseShardIndex(text);
  if (index.ok()) return index;
  return absl::DataLossError(
      absl::StrCat(path, ": ", index.status().message()));
}

absl::StatusOr<std::vector<NamedTensor>> ReadByIndex(const std::string& path) {
  const absl::StatusOr<ShardIndex> index = ReadIndex(path);
  if (!index.ok()) return index.status();
  std::set<std::string> files;
  for (const auto& [name, file] : index->weight_map) files.insert(file);
  std::vector<NamedTensor> tensors;
  for (const std::string& name : files) {
    absl::StatusOr<Safetensors> file = ReadSafetensors(FolderOf(path) + name);
    if (!file.ok()) return file.status();
    for (NamedTensor& item : file->tensors) {
      const auto place = index->weight_map.find(item.name);
      if (place == index->weight_map.end() || place->second != name) {
        return absl::DataLossError(
            absl::StrCat(FolderOf(path), name, ": has tensor ",
                         QuotedName(item.name), ", which is not in ", path));
      }
      tensors.push_back(std::move(item));
    }
  }
  if (tensors.size() != index->weight_map.size()) {
    return absl::DataLossError(
        absl::StrCat(path, ": lists ", index->weight_map.size(),
                     " tensors, of which the files have ", tensors.size()));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const NamedTensor& a, const NamedTensor& b) {
              return a.name < b.name;
            });
  return tensors;
}

// Assigns tensors to files: fills one file before the next.
std::vector<int> FillShards(const std::vector<NamedTensor>& tensors,
                            uint64_t max_bytes) {
  std::vector<int> shards;
  int shard = 0;
  uint64_t filled = 0;
  for (const NamedTensor& item : tensors) {
    const uint64_t size = item.tensor.nbytes();
    if (filled > 0 && size > max_bytes - std::min(filled, max_bytes)) {
      ++shard;
      filled = 0;
    }
    filled += size;
    shards.push_back(shard);
  }
  return shards;
}

}  // namespace

absl::StatusOr<std::vector<NamedTensor>> ReadShardedSafetensors(
    const std::string& path) {
  FileInfo info;
  constexpr std::string_view kIndex = ".json";
  if (path.size() > kIndex.size() &&
      path.compare(path.size() - kIndex.size(), kIndex.size(), kIndex) == 0) {
    return ReadByIndex(path);
  }
  if (RealFileSystem().Stat(path, info) == 0 &&
      info.kind == FileInfo::Kind::kFolder) {
    const std::string index = absl::StrCat(path, "/", ShardIndexName("model"));
    if (RealFileSystem().Stat(index, info) == 0) return ReadByIndex(index);
    return ReadShardedSafetensors(
        absl::StrCat(path, "/", ShardName("model", 0, 1)));
  }
  absl::StatusOr<Safetensors> file = ReadSafetensors(path);
  if (!file.ok()) return file.status();
  return std::move(file->tensors);
}

absl::Status WriteShardedSafetensors(const std::string& folder,
                                     const std::vector<NamedTensor>& tensors,
                                     const ShardOptions& options) {
  TORCH_CHECK_VALUE(options.max_shard_bytes > 0,
                    "ShardOptions: max_shard_bytes is 0");
  const std::vector<int> shards = FillShards(tensors, options.max_shard_bytes);
  const int count = shards.empty() ? 1 : shards.back() + 1;
  ShardIndex index;
  for (int shard = 0; shard < count; ++shard) {
    const std::string name = ShardName(options.group, shard, count);
    std::vector<NamedTensor> part;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (shards[i] != shard) continue;
      part.push_back(tensors[i]);
      index.weight_map[tensors[i].name] = name;
      index.total_size += tensors[i].tensor.nbytes();
    }
    const absl::Status written = WriteSafetensors(
        absl::StrCat(folder, "/", name), part, {{"format", "pt"}});
    if (!written.ok()) return written;
  }
  if (count == 1) return absl::OkStatus();
  return WriteFileAtomically(
      absl::StrCat(folder, "/", ShardIndexName(options.group)),
      FormatShardIndex(index));
}

}  // namespace trainyard

#include "trainer/checkpoint/step_share.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/format/shard_index.h"
#include "trainer/checkpoint/format/states.h"
#include "trainer/checkpoint/parts/has_nan.h"
#include "trainer/checkpoint/safetensors/safetensors_tensor.h"
#include "trainer/checkpoint/slice_files.h"
#include "trainer/io/quoted_name.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

constexpr char kStateGroup[] = "state";

using Tensors = std::vector<NamedTensor>;

std::string StateName(int rank, const char* ending) {
  return absl::StrFormat("state-r%05d.%s", rank, ending);
}

bool MayHaveNan(const std::string& group, std::string_view name) {
  return group == kStateGroup &&
         name.substr(0, name.find('/')) == kGradientsPart;
}

absl::StatusOr<pb::FileEntry> WriteTensors(
    const std::string& name, const std::string& group,
    const std::vector<const NamedTensor*>& tensors, StepWriter& writer) {
  SafetensorsHeader header;
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor* item : tensors) {
    absl::StatusOr<SafetensorsEntry> entry = EntryOf(*item);
    if (!entry.ok()) return entry.status();
    header.tensors.push_back(*std::move(entry));
    by_name[item->name] = item;
  }
  at::Tensor bytes;  // kept until the next one is asked for
  absl::StatusOr<pb::FileEntry> file = writer.WriteTensors(
      name, std::move(header),
      [&](const SafetensorsEntry& entry) -> absl::StatusOr<const void*> {
        absl::StatusOr<at::Tensor> host = HostBytes(*by_name[entry.name]);
        if (!host.ok()) return host.status();
        bytes = *std::move(host);
        if (!MayHaveNan(group, entry.name)) {
          const absl::Status sound = CheckNoNan(group, {entry.name, bytes});
          if (!sound.ok()) return sound;
        }
        return bytes.const_data_ptr();
      });
  if (file.ok()) file->set_group(group);
  return file;
}

int NumShards(const Tensors& tensors, int world_size) {
  return std::clamp(static_cast<int>(tensors.size()), 1, world_size);
}

uint64_t BytesOf(const NamedTensor& item) {
  return item.tensor.defined() ? item.tensor.nbytes() : 0;
}

// Writes this rank's shard of a group and, on rank 0, the index.
absl::Status WriteGroup(const std::string& group, const Tensors& tensors,
                        const RankShare& share, StepWriter& writer,
                        std::vector<pb::FileEntry>& files) {
  const int count = NumShards(tensors, share.world_size);
  const std::vector<int> shards = WritersOf(tensors, share.world_size);
  ShardIndex index;
  std::vector<const NamedTensor*> mine;
  for (size_t i = 0; i < tensors.size(); ++i) {
    index.total_size += BytesOf(tensors[i]);
    index.weight_map[tensors[i].name] = ShardName(group, shards[i], count);
    if (shards[i] == share.rank) mine.push_back(&tensors[i]);
  }
  if (share.rank < count) {
    absl::StatusOr<pb::FileEntry> file =
        WriteTensors(ShardName(group, share.rank, count), group, mine, writer);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  if (count == 1 || share.rank != 0) return absl::OkStatus();
  absl::StatusOr<pb::FileEntry> file = writer.WriteBytes(
      ShardIndexName(group), pb::FileEntry::INDEX, FormatShardIndex(index));
  if (!file.ok()) return file.status();
  file->set_group(group);
  files.push_back(*std::move(file));
  return absl::OkStatus();
}

// Writes this rank's slices of a group. Every rank must write to this folder:
// otherwise the tensors in it are not complete.
absl::Status WriteSlices(const std::string& group,
                         const std::vector<TensorSlice>& slices,
                         const RankShare& share, StepWriter& writer,
                         std::vector<pb::FileEntry>& files) {
  if (share.rank != share.global_rank) {
    return absl::FailedPreconditionError(absl::StrCat(
        "each rank has only a slice of the tensors of ", QuotedName(group),
        ", so that no node has a complete checkpoint; unset save_per_node, or "
        "use a backend that does not shard, e.g. \"ddp\""));
  }
  const Tensors written = WrittenSlices(slices);
  if (written.empty()) return absl::OkStatus();
  std::vector<const NamedTensor*> mine;
  for (const NamedTensor& item : written) mine.push_back(&item);
  absl::StatusOr<pb::FileEntry> file = WriteTensors(
      SliceFileName(group, share.global_rank), group, mine, writer);
  if (!file.ok()) return file.status();
  DescribeSlices(slices, *file);
  files.push_back(*std::move(file));
  return absl::OkStatus();
}

// Returns the values of the parts that are tensors.
Tensors StateTensors(const Checkpoint& checkpoint) {
  Tensors tensors;
  for (const StateTensorName& name : TensorsOf(checkpoint.parts)) {
    tensors.push_back(
        {name.Path(), GetTensor(checkpoint.parts.at(name.part), name.value)});
  }
  return tensors;
}

// Moves the tensors of a file, from `first` on, that are slices to `join`.
void TakeSlices(const pb::FileEntry& file, size_t first, Tensors& tensors,
                SliceJoin& join) {
  std::map<std::string_view, const pb::SliceEntry*> slices;
  for (const pb::TensorEntry& entry : file.tensors()) {
    if (entry.has_slice()) slices[entry.name()] = &entry.slice();
  }
  if (slices.empty()) return;
  const auto taken = [&](const NamedTensor& item) {
    const auto found = slices.find(item.name);
    if (found == slices.end()) return false;
    const pb::SliceEntry& slice = *found->second;
    join.Add({item.name,
              item.tensor,
              {slice.sizes().begin(), slice.sizes().end()},
              static_cast<int64_t>(slice.begin())});
    return true;
  };
  tensors.erase(std::remove_if(tensors.begin() + static_cast<int64_t>(first),
                               tensors.end(), taken),
                tensors.end());
}

// Appends the tensors of a file, and its slices to `join`.
absl::Status ReadTensors(const StepReader& step, const pb::FileEntry& file,
                         Tensors& tensors, SliceJoin& join) {
  const size_t first = tensors.size();
  std::vector<SafetensorsEntry> entries;
  const absl::Status read = step.ReadTensors(
      file, [&](const SafetensorsEntry& entry) -> absl::StatusOr<void*> {
        absl::StatusOr<at::Tensor> tensor = EmptyTensor(entry);
        if (!tensor.ok()) return tensor.status();
        tensors.push_back({entry.name, *std::move(tensor)});
        entries.push_back(entry);
        return tensors.back().tensor.mutable_data_ptr();
      });
  if (!read.ok()) return read;
  for (size_t i = 0; i < entries.size(); ++i) {
    const absl::Status values =
        CheckValues(entries[i], tensors[first + i].tensor);
    if (!values.ok()) return values;
  }
  TakeSlices(file, first, tensors, join);
  return absl::OkStatus();
}

// The rank whose parts `rank` reads: itself or, if it has none, the first rank
// that has any.
uint32_t OwnerOf(const pb::Manifest& manifest, uint32_t rank) {
  std::optional<uint32_t> first;
  for (const pb::FileEntry& file : manifest.files()) {
    if (file.kind() != pb::FileEntry::STATES) continue;
    if (file.rank() == rank) return rank;
    first = std::min(first.value_or(file.rank()), file.rank());
  }
  return first.value_or(0);
}

absl::Status SortUnique(const std::string& group, Tensors& tensors) {
  SortByName(tensors);
  const auto twice =
      std::adjacent_find(tensors.begin(), tensors.end(),
                         [](const NamedTensor& a, const NamedTensor& b) {
                           return a.name == b.name;
                         });
  if (twice == tensors.end()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("tensor ", QuotedName(twice->name),
                                          " is in two files of ",
                                          QuotedName(group)));
}

// Inserts the tensors into the states of the parts.
absl::Status FillStates(ParsedStates& states, const Tensors& tensors) {
  std::map<std::string_view, const at::Tensor*> by_name;
  for (const NamedTensor& item : tensors) by_name[item.name] = &item.tensor;
  for (const StateTensorName& name : states.tensors) {
    const auto found = by_name.find(name.Path());
    if (found == by_name.end()) {
      return absl::DataLossError(
          absl::StrCat("the state has no tensor ", QuotedName(name.Path())));
    }
    SetTensor(states.parts.at(name.part), name.value, *found->second);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<int> WritersOf(const std::vector<NamedTensor>& tensors,
                           int world_size) {
  std::vector<uint64_t> sizes;
  for (const NamedTensor& item : tensors) sizes.push_back(BytesOf(item));
  return SplitBySize(sizes, NumShards(tensors, world_size));
}

uint32_t FormatOf(const Checkpoint& checkpoint) {
  return checkpoint.slices.empty() ? kCheckpointFormat : kSlicedFormat;
}

uint64_t SizeOf(const Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  for (const auto& [group, tensors] : checkpoint.tensors) {
    for (const NamedTensor& item : tensors) {
      bytes += item.name.size() + 128;  // in headers and the manifest
      if (item.tensor.defined()) bytes += item.tensor.nbytes();
    }
  }
  for (const auto& [group, slices] : checkpoint.slices) {
    for (const TensorSlice& slice : slices) {
      bytes += slice.name.size() + 128 +
               static_cast<uint64_t>(c10::multiply_integers(slice.sizes)) *
                   slice.values.element_size();
    }
  }
  return bytes;
}

absl::StatusOr<std::vector<pb::FileEntry>> WriteShare(
    const Checkpoint& checkpoint, const RankShare& share, StepWriter& writer) {
  std::vector<pb::FileEntry> files;
  for (const auto& [group, tensors] : checkpoint.tensors) {
    if (!IsFileName(group) || group == kStateGroup) {
      return absl::InvalidArgumentError(
          absl::StrCat(QuotedName(group),
                       " is not allowed as the name of a group of tensors"));
    }
    const absl::Status written =
        WriteGroup(group, tensors, share, writer, files);
    if (!written.ok()) return written;
  }
  for (const auto& [group, slices] : checkpoint.slices) {
    const absl::Status written =
        WriteSlices(group, slices, share, writer, files);
    if (!written.ok()) return written;
  }
  const absl::StatusOr<std::string> states =
      FormatStates(checkpoint.parts, writer.save_uuid());
  if (!states.ok()) return states.status();
  absl::StatusOr<pb::FileEntry> file = writer.WriteBytes(
      StateName(share.global_rank, "pb"), pb::FileEntry::STATES, *states);
  if (!file.ok()) return file.status();
  files.push_back(*std::move(file));
  const Tensors tensors = StateTensors(checkpoint);
  if (!tensors.empty()) {
    std::vector<const NamedTensor*> all;
    for (const NamedTensor& item : tensors) all.push_back(&item);
    file = WriteTensors(StateName(share.global_rank, "safetensors"),
                        kStateGroup, all, writer);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  for (pb::FileEntry& entry : files) {
    entry.set_rank(static_cast<uint32_t>(share.global_rank));
  }
  return files;
}

absl::StatusOr<Checkpoint> ReadStep(const StepReader& step, int rank) {
  const pb::Manifest& manifest = step.manifest();
  Checkpoint checkpoint{.step = static_cast<int64_t>(manifest.step()),
                        .epoch = static_cast<int64_t>(manifest.epoch()),
                        .samples = static_cast<int64_t>(manifest.samples()),
                        .finished = manifest.finished(),
                        .world_size = static_cast<int>(manifest.world_size())};
  checkpoint.metrics.insert(manifest.metrics().begin(),
                            manifest.metrics().end());
  checkpoint.config.insert(manifest.config().begin(), manifest.config().end());
  const uint32_t owner = OwnerOf(manifest, static_cast<uint32_t>(rank));
  checkpoint.own_parts = owner == static_cast<uint32_t>(rank);
  Tensors state_tensors;
  std::map<std::string, SliceJoin> joins;
  absl::StatusOr<ParsedStates> states =
      absl::DataLossError(absl::StrCat(step.folder(), ": has no states"));
  for (const pb::FileEntry& file : manifest.files()) {
    const bool is_state = file.group() == kStateGroup;
    const bool is_foreign = is_state && file.rank() != owner;
    absl::Status status;
    if (file.kind() == pb::FileEntry::TENSORS && !is_foreign) {
      status = ReadTensors(
          step, file,
          is_state ? state_tensors : checkpoint.tensors[file.group()],
          joins.try_emplace(file.group(), file.group()).first->second);
    } else if (file.kind() == pb::FileEntry::STATES && file.rank() == owner) {
      const absl::StatusOr<std::string> bytes = step.ReadBytes(file);
      if (!bytes.ok()) return bytes.status();
      states = ParseStates(*bytes);
      if (states.ok() && states->save_uuid != manifest.save_uuid()) {
        status = absl::DataLossError(absl::StrCat(
            step.folder(), "/", file.name(), ": belongs to another save"));
      }
    } else {
      status = step.Verify(file);
    }
    if (!status.ok()) return status;
  }
  if (!states.ok()) return states.status();
  absl::Status status = FillStates(*states, state_tensors);
  for (auto& [group, tensors] : checkpoint.tensors) {
    if (status.ok()) status = joins.at(group).Finish(tensors);
    if (status.ok()) status = SortUnique(group, tensors);
  }
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(step.folder(), ": ", status.message()));
  }
  checkpoint.parts = std::move(states->parts);
  return checkpoint;
}

}  // namespace trainyard

#include "trainer/checkpoint/format/manifest.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/wire_count.h"
#include "trainer/io/quoted_name.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

constexpr size_t kUuidBytes = 16;
constexpr size_t kMaxFileName = 255;
// The numbers of the repeated fields of a manifest and of a file in it.
constexpr int kFilesField = 12;
constexpr int kTensorsField = 7;
constexpr int kMaxWorld = 1'000'000;
constexpr int kMaxDimensions = 64;
// Enough for the maximum of files and tensors with all their fields.
constexpr int64_t kMaxFields = 6'000'000;

template <class... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::DataLossError(absl::StrCat("the manifest ", parts...));
}

absl::Status CheckVersion(const pb::Manifest& manifest) {
  if (manifest.format_version() == 0 || manifest.min_reader_version() == 0 ||
      manifest.min_reader_version() > manifest.format_version()) {
    return Bad("has no version");
  }
  if (manifest.min_reader_version() > kSlicedFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat("was written in format ", manifest.format_version(),
                     " by ", QuotedName(manifest.producer()),
                     "; this program reads up to format ", kSlicedFormat));
  }
  return absl::OkStatus();
}

absl::Status CheckSlice(const pb::TensorEntry& tensor, const std::string& in) {
  const pb::SliceEntry& slice = tensor.slice();
  const auto too_large = [](uint64_t number) { return number > INT64_MAX; };
  if (slice.sizes_size() > kMaxDimensions || too_large(slice.begin()) ||
      std::any_of(slice.sizes().begin(), slice.sizes().end(), too_large)) {
    return Bad("has a wrong slice of tensor ", QuotedName(tensor.name()), in);
  }
  return absl::OkStatus();
}

absl::Status CheckTensors(const pb::FileEntry& file) {
  const std::string in = absl::StrCat(" of ", QuotedName(file.name()));
  std::set<std::string_view> names;
  uint64_t end = 0;
  for (const pb::TensorEntry& tensor : file.tensors()) {
    const std::string& name = tensor.name();
    if (name.size() > kMaxTensorName)
      return Bad("has a tensor name that is too long", in);
    if (ValidUtf8Prefix(name) != name.size()) {
      return Bad("has a tensor name that is not UTF-8", in);
    }
    if (!names.insert(name).second) {
      return Bad("has tensor ", QuotedName(name), in, " twice");
    }
    if (tensor.offset() > file.size() ||
        tensor.size() > file.size() - tensor.offset() ||
        (end != 0 && tensor.offset() != end)) {
      return Bad("has a wrong position of tensor ", QuotedName(name), in);
    }
    end = tensor.offset() + tensor.size();
    const absl::Status slice = CheckSlice(tensor, in);
    if (!slice.ok()) return slice;
  }
  if (end != 0 && end != file.size())
    return Bad("has bytes that belong to no tensor", in);
  return absl::OkStatus();
}

absl::Status CheckFiles(const pb::Manifest& manifest) {
  std::set<std::string_view> names;
  for (const pb::FileEntry& file : manifest.files()) {
    if (!IsFileName(file.name()) || file.name() == kManifestName) {
      return Bad("has the file name ", QuotedName(file.name()));
    }
    if (!names.insert(file.name()).second) {
      return Bad("has the file ", QuotedName(file.name()), " twice");
    }
    if (file.rank() >= manifest.world_size()) {
      return Bad("has a file of rank ", file.rank(), " of ",
                 manifest.world_size());
    }
    if (file.kind() != pb::FileEntry::TENSORS && file.tensors_size() > 0) {
      return Bad("has tensors in ", QuotedName(file.name()));
    }
    if (file.kind() == pb::FileEntry::TENSORS && !IsFileName(file.group())) {
      return Bad("has the group ", QuotedName(file.group()));
    }
    if (file.kind() == pb::FileEntry::STATES && file.size() > kMaxFrame) {
      return Bad("has too long a state in ", QuotedName(file.name()));
    }
    const absl::Status tensors = CheckTensors(file);
    if (!tensors.ok()) return tensors;
  }
  return absl::OkStatus();
}

absl::Status Check(const pb::Manifest& manifest) {
  const absl::Status version = CheckVersion(manifest);
  if (!version.ok()) return version;
  if (manifest.run_uuid().size() != kUuidBytes ||
      manifest.save_uuid().size() != kUuidBytes) {
    return Bad("has no valid run_uuid or save_uuid");
  }
  if (manifest.world_size() < 1 || manifest.world_size() > kMaxWorld) {
    return Bad("has world_size ", manifest.world_size());
  }
  if (manifest.step() > INT64_MAX || manifest.epoch() > INT64_MAX ||
      manifest.samples() > INT64_MAX || manifest.sequence() > INT64_MAX) {
    return Bad("has a counter that is too large");
  }
  return CheckFiles(manifest);
}

}  // namespace

bool IsFileName(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kMaxFileName && plain(name[0]) &&
         std::all_of(name.begin(), name.end(), [plain](char c) {
           return plain(c) || c == '.' || c == '-';
         });
}

absl::StatusOr<std::string> FormatManifest(const pb::Manifest& manifest) {
  const absl::Status checked = Check(manifest);
  if (!checked.ok()) return absl::InvalidArgumentError(checked.message());
  std::string message;
  if (manifest.ByteSizeLong() > kMaxFrame - 64 ||
      !manifest.SerializeToString(&message)) {
    return absl::InvalidArgumentError("the manifest would be too long");
  }
  return Framed(kManifestMagic, message);
}

absl::StatusOr<pb::Manifest> ParseManifest(std::string_view file) {
  const absl::StatusOr<std::string_view> message =
      Unframed(kManifestMagic, file);
  if (!message.ok()) return message.status();
  const WireCount count = CountOnWire(*message, kFilesField, kTensorsField);
  if (count.outer > kMaxCheckpointFiles ||
      count.inner > kMaxCheckpointTensors || count.fields > kMaxFields) {
    return Bad("has ", count.outer, " files, ", count.inner, " tensors and ",
               count.fields, " fields");
  }
  pb::Manifest manifest;
  if (!manifest.ParseFromArray(message->data(),
                               static_cast<int>(message->size()))) {
    return Bad("cannot be parsed");
  }
  const absl::Status checked = Check(manifest);
  if (!checked.ok()) return checked;
  return manifest;
}

}  // namespace trainyard

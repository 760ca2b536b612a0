#include "trainer/checkpoint/format/step_reader.h"

#include <absl/strings/str_cat.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trainer/checkpoint/format/checked_read.h"
#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/format/states.h"
#include "trainer/checkpoint/format/step_writer.h"
#include "trainer/checkpoint/safetensors/safetensors_header.h"
#include "trainer/io/crc32c.h"
#include "trainer/io/input_file.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

template <class... Parts>
absl::Status Damaged(const InputFile& file, const Parts&... parts) {
  return absl::DataLossError(absl::StrCat(file.path(), ": ", parts...));
}

// Opens a file of the manifest. Rejects links and files of another size.
absl::StatusOr<InputFile> OpenFile(const std::string& folder,
                                   const pb::FileEntry& entry,
                                   FileSystem& files) {
  absl::StatusOr<InputFile> file =
      InputFile::Open(absl::StrCat(folder, "/", entry.name()), files,
                      InputFile::Links::kRefuse);
  if (absl::IsNotFound(file.status()) ||
      absl::IsInvalidArgument(file.status())) {
    return absl::DataLossError(file.status().message());
  }
  if (file.ok() && file->size() != entry.size()) {
    return Damaged(*file, "has ", file->size(), " bytes; it must have ",
                   entry.size());
  }
  return file;
}

absl::Status CheckHeader(const InputFile& file, const pb::FileEntry& entry,
                         const SafetensorsHeader& header,
                         const std::string& save) {
  const auto uuid = header.metadata.find(kSaveUuidKey);
  if (uuid == header.metadata.end() || uuid->second != save) {
    return Damaged(file, "belongs to another save");
  }
  bool same =
      header.tensors.size() == static_cast<size_t>(entry.tensors_size());
  for (int i = 0; same && i < entry.tensors_size(); ++i) {
    const SafetensorsEntry& tensor = header.tensors[static_cast<size_t>(i)];
    same = tensor.name == entry.tensors(i).name() &&
           header.data_begin + tensor.begin == entry.tensors(i).offset() &&
           tensor.size() == entry.tensors(i).size();
  }
  if (same) return absl::OkStatus();
  return Damaged(file, "has other tensors than the manifest says");
}

}  // namespace

StepReader::StepReader(std::string folder, FileSystem& files)
    : folder_(std::move(folder)), files_(&files) {}

absl::StatusOr<StepReader> StepReader::Open(const std::string& folder,
                                            FileSystem& files) {
  StepReader step(folder, files);
  const absl::StatusOr<InputFile> file =
      InputFile::Open(absl::StrCat(folder, "/", kManifestName), files,
                      InputFile::Links::kRefuse);
  if (!file.ok()) return file.status();
  if (file->size() > kMaxFrame) {
    return Damaged(*file, "has ", file->size(), " bytes, more than ",
                   kMaxFrame);
  }
  std::string bytes(file->size(), '\0');
  const absl::Status read = file->ReadAt(0, bytes.data(), bytes.size());
  if (!read.ok()) return read;
  absl::StatusOr<pb::Manifest> manifest = ParseManifest(bytes);
  if (!manifest.ok()) {
    return absl::Status(
        manifest.status().code(),
        absl::StrCat(file->path(), ": ", manifest.status().message()));
  }
  step.manifest_ = *std::move(manifest);
  for (const pb::FileEntry& entry : step.manifest_.files()) {
    const absl::Status sized = OpenFile(folder, entry, files).status();
    if (!sized.ok()) return sized;
  }
  return step;
}

absl::Status StepReader::ReadTensors(const pb::FileEntry& entry,
                                     const RoomFor& room_for) const {
  const absl::StatusOr<InputFile> file = OpenFile(folder_, entry, *files_);
  if (!file.ok()) return file.status();
  const absl::StatusOr<SafetensorsHeader> header = ReadSafetensorsHeader(*file);
  if (!header.ok()) return header.status();
  absl::Status status =
      CheckHeader(*file, entry, *header, HexOf(manifest_.save_uuid()));
  if (!status.ok()) return status;
  std::vector<CheckedPart> parts = {{.size = header->data_begin}};
  for (int i = 0; i < entry.tensors_size(); ++i) {
    const absl::StatusOr<void*> room =
        room_for(header->tensors[static_cast<size_t>(i)]);
    if (!room.ok()) return room.status();
    parts.push_back({.offset = entry.tensors(i).offset(),
                     .size = entry.tensors(i).size(),
                     .to = *room});
  }
  status = ReadChecked(*file, parts);
  if (!status.ok()) return status;
  uint32_t whole = parts[0].crc32c;
  for (int i = 0; i < entry.tensors_size(); ++i) {
    const CheckedPart& part = parts[static_cast<size_t>(i) + 1];
    if (part.crc32c != entry.tensors(i).crc32c()) {
      return Damaged(*file, "tensor ", QuotedName(entry.tensors(i).name()),
                     " is damaged: its checksum does not match");
    }
    whole = Crc32cCombined(whole, part.crc32c, part.size);
  }
  if (whole != entry.crc32c()) {
    return Damaged(*file, "its header is damaged: its checksum does not match");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> StepReader::ReadBytes(
    const pb::FileEntry& entry) const {
  const absl::StatusOr<InputFile> file = OpenFile(folder_, entry, *files_);
  if (!file.ok()) return file.status();
  if (file->size() > kMaxFrame) return Damaged(*file, "is too long");
  std::string bytes(file->size(), '\0');
  std::vector<CheckedPart> parts = {{.size = bytes.size(), .to = bytes.data()}};
  const absl::Status read = ReadChecked(*file, parts);
  if (!read.ok()) return read;
  if (parts[0].crc32c != entry.crc32c()) {
    return Damaged(*file, "is damaged: its checksum does not match");
  }
  return bytes;
}

absl::Status StepReader::Verify(const pb::FileEntry& file) const {
  if (file.kind() == pb::FileEntry::TENSORS) {
    return ReadTensors(file, [](const SafetensorsEntry&) {
      return static_cast<void*>(nullptr);
    });
  }
  const absl::StatusOr<std::string> bytes = ReadBytes(file);
  if (!bytes.ok() || file.kind() != pb::FileEntry::STATES) {
    return bytes.status();
  }
  const absl::StatusOr<ParsedStates> states = ParseStates(*bytes);
  const std::string path = absl::StrCat(folder_, "/", file.name());
  if (!states.ok()) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", states.status().message()));
  }
  if (states->save_uuid == manifest_.save_uuid()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": belongs to another save"));
}

absl::Status StepReader::VerifyAll() const {
  for (const pb::FileEntry& file : manifest_.files()) {
    const absl::Status status = Verify(file);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace trainyard

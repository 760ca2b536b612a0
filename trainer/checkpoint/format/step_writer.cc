#include "trainer/checkpoint/format/step_writer.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/safetensors/safetensors_header.h"
#include "trainer/io/crc32c.h"
#include "trainer/io/output_file.h"

namespace trainyard {
namespace {

// Small enough to be in the cache still when it is written.
constexpr size_t kPiece = size_t{512} << 10;

// Writes bytes and updates the checksum.
absl::Status Append(const void* data, uint64_t size, OutputFile& file,
                    uint32_t& crc) {
  const auto* bytes = static_cast<const char*>(data);
  for (uint64_t at = 0; at < size; at += kPiece) {
    const size_t piece = std::min<uint64_t>(kPiece, size - at);
    crc = Crc32c(bytes + at, piece, crc);
    const absl::Status status = file.Append(bytes + at, piece);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

std::string HexOf(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

StepWriter::StepWriter(std::string folder, std::string save_uuid,
                       FileSystem& files)
    : folder_(std::move(folder)),
      save_uuid_(std::move(save_uuid)),
      files_(files) {}

absl::StatusOr<pb::FileEntry> StepWriter::WriteTensors(
    const std::string& name, SafetensorsHeader header,
    const BytesOf& bytes_of) {
  const std::string path = absl::StrCat(folder_, "/", name);
  const auto in_file = [&path](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  };
  header.metadata["format"] = "pt";  // as others' readers want it
  header.metadata[kSaveUuidKey] = HexOf(save_uuid_);
  absl::Status status = LayOutTensors(header);
  if (!status.ok()) return in_file(status);
  const absl::StatusOr<std::string> text = FormatSafetensorsHeader(header);
  if (!text.ok()) return in_file(text.status());
  pb::FileEntry entry;
  entry.set_name(name);
  entry.set_kind(pb::FileEntry::TENSORS);
  entry.set_size(text->size() +
                 (header.tensors.empty() ? 0 : header.tensors.back().end));
  absl::StatusOr<OutputFile> file =
      OutputFile::Create(path, entry.size(), files_);
  if (!file.ok()) return file.status();
  uint32_t whole = 0;
  status = Append(text->data(), text->size(), *file, whole);
  for (const SafetensorsEntry& tensor : header.tensors) {
    if (!status.ok()) return status;
    const absl::StatusOr<const void*> bytes = bytes_of(tensor);
    if (!bytes.ok()) return in_file(bytes.status());
    uint32_t crc = 0;
    status = Append(*bytes, tensor.size(), *file, crc);
    whole = Crc32cCombined(whole, crc, tensor.size());
    pb::TensorEntry& item = *entry.add_tensors();
    item.set_name(tensor.name);
    item.set_offset(text->size() + tensor.begin);
    item.set_size(tensor.size());
    item.set_crc32c(crc);
  }
  if (status.ok()) status = file->Finish();
  if (!status.ok()) return status;
  files_.KillPoint("save.tensors_written");
  entry.set_crc32c(whole);
  return entry;
}

absl::StatusOr<pb::FileEntry> StepWriter::WriteBytes(const std::string& name,
                                                     pb::FileEntry::Kind kind,
                                                     std::string_view bytes) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(
      absl::StrCat(folder_, "/", name), bytes.size(), files_);
  if (!file.ok()) return file.status();
  pb::FileEntry entry;
  uint32_t crc = 0;
  absl::Status status = Append(bytes.data(), bytes.size(), *file, crc);
  if (status.ok()) status = file->Finish();
  if (!status.ok()) return status;
  entry.set_name(name);
  entry.set_kind(kind);
  entry.set_size(bytes.size());
  entry.set_crc32c(crc);
  return entry;
}

absl::Status StepWriter::WriteManifest(const pb::Manifest& manifest) {
  const absl::StatusOr<std::string> bytes = FormatManifest(manifest);
  if (!bytes.ok()) return bytes.status();
  files_.KillPoint("save.before_manifest");
  const absl::Status written =
      WriteBytes(kManifestName, pb::FileEntry::UNKNOWN, *bytes).status();
  if (!written.ok()) return written;
  files_.KillPoint("save.manifest_written");
  return SyncFolder(folder_, files_);
}

}  // namespace trainyard

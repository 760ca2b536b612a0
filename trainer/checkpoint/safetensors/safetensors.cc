#include "trainer/checkpoint/safetensors/safetensors.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "trainer/checkpoint/safetensors/safetensors_header.h"
#include "trainer/checkpoint/safetensors/safetensors_tensor.h"
#include "trainer/io/atomic_file.h"
#include "trainer/io/input_file.h"

namespace trainyard {
namespace {

absl::Status InFile(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

}  // namespace

absl::StatusOr<Safetensors> ReadSafetensors(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<SafetensorsHeader> header = ReadSafetensorsHeader(*file);
  if (!header.ok()) return header.status();
  Safetensors result{.metadata = std::move(header->metadata)};
  for (const SafetensorsEntry& entry : header->tensors) {
    absl::StatusOr<at::Tensor> tensor = EmptyTensor(entry);
    if (!tensor.ok()) return InFile(path, tensor.status());
    const absl::Status read =
        file->ReadAt(header->data_begin + entry.begin,
                     tensor->mutable_data_ptr(), entry.size());
    if (!read.ok()) return read;
    const absl::Status values = CheckValues(entry, *tensor);
    if (!values.ok()) return InFile(path, values);
    result.tensors.push_back({entry.name, *std::move(tensor)});
  }
  std::sort(result.tensors.begin(), result.tensors.end(),
            [](const NamedTensor& a, const NamedTensor& b) {
              return a.name < b.name;
            });
  return result;
}

absl::Status WriteSafetensors(
    const std::string& path, const std::vector<NamedTensor>& tensors,
    const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header{.metadata = metadata};
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& item : tensors) {
    absl::StatusOr<SafetensorsEntry> entry = EntryOf(item);
    if (!entry.ok()) return InFile(path, entry.status());
    header.tensors.push_back(*std::move(entry));
    by_name[item.name] = &item;
  }
  const absl::Status layout = LayOutTensors(header);
  if (!layout.ok()) return InFile(path, layout);
  const absl::StatusOr<std::string> text = FormatSafetensorsHeader(header);
  if (!text.ok()) return InFile(path, text.status());
  const uint64_t data = header.tensors.empty() ? 0 : header.tensors.back().end;
  absl::StatusOr<AtomicFile> file =
      AtomicFile::Create(path, text->size() + data);
  if (!file.ok()) return file.status();
  absl::Status status = file->Append(text->data(), text->size());
  for (const SafetensorsEntry& entry : header.tensors) {
    if (!status.ok()) return status;
    // One tensor at a time, so that a copy, if needed, is freed soon.
    const absl::StatusOr<at::Tensor> bytes = HostBytes(*by_name[entry.name]);
    if (!bytes.ok()) return InFile(path, bytes.status());
    status = file->Append(bytes->const_data_ptr(), entry.size());
  }
  return status.ok() ? file->Commit() : status;
}

}  // namespace trainyard

#include "trainer/checkpoint/pt/pt_file.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <utility>

#include "trainer/checkpoint/safetensors/safetensors_tensor.h"
#include "trainer/io/input_file.h"

namespace trainyard {
namespace {

// The elements of a storage as one vector, and their type.
struct Storage {
  SafetensorsDtype dtype;
  at::Tensor elements;
};

absl::Status InFile(const InputFile& file, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(file.path(), ": ", status.message()));
}

absl::StatusOr<Storage> ReadStorage(const InputFile& file,
                                    const ZipEntry& bytes,
                                    const PtTensor& tensor, bool check_crc32) {
  const uint64_t width = DtypeBits(tensor.dtype) / 8;
  SafetensorsEntry entry{.name = tensor.name,
                         .dtype = tensor.dtype,
                         .shape = {bytes.size / width},
                         .end = bytes.size};
  if (bytes.size % width != 0) {
    return absl::DataLossError(
        absl::StrCat(file.path(), ": the storage of tensor \"", tensor.name,
                     "\" ends in the middle of an element"));
  }
  absl::StatusOr<at::Tensor> elements = EmptyTensor(entry);
  if (!elements.ok()) return InFile(file, elements.status());
  const absl::Status read =
      ReadZipEntry(file, bytes, elements->mutable_data_ptr(), check_crc32);
  if (!read.ok()) return read;
  const absl::Status values = CheckValues(entry, *elements);
  if (!values.ok()) return InFile(file, values);
  return Storage{tensor.dtype, *std::move(elements)};
}

}  // namespace

absl::StatusOr<PtFile> ReadPtFile(const std::string& path,
                                  const PtOptions& options) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<PtLayout> layout = ReadPtLayout(*file, options);
  if (!layout.ok()) return layout.status();
  PtFile result{.values = std::move(layout->values),
                .key = std::move(layout->key)};
  std::map<std::string, Storage> storages;
  for (const PtTensor& tensor : layout->tensors) {
    auto found = storages.find(tensor.storage);
    if (found == storages.end()) {
      absl::StatusOr<Storage> storage =
          ReadStorage(*file, layout->storages.at(tensor.storage), tensor,
                      options.check_crc32);
      if (!storage.ok()) return storage.status();
      found = storages.emplace(tensor.storage, *std::move(storage)).first;
    }
    if (found->second.dtype != tensor.dtype) {
      return absl::UnimplementedError(
          absl::StrCat(path, ": tensor \"", tensor.name,
                       "\" shares its storage with a tensor of another type"));
    }
    result.tensors.push_back(
        {tensor.name, found->second.elements.as_strided(
                          tensor.shape, tensor.strides, tensor.offset)});
  }
  return result;
}

}  // namespace trainyard

// Fuzzes .pt files. The first byte decides whether the rest is a whole file, or
// the pickle of a file with two storages. It is refused, or every tensor lies
// in a storage of the file.
#include <cstdlib>
#include <string>

#include "trainer/checkpoint/fuzz/fuzz_entry.h"
#include "trainer/checkpoint/pt/pt_layout.h"
#include "trainer/io/input_file.h"
#include "trainer/io/testing/memory_file_system.h"
#include "trainer/io/testing/zip_bytes.h"

namespace trainyard {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckTensor(const PtTensor& tensor, const ZipEntry& storage) {
  Check(tensor.shape.size() == tensor.strides.size());
  const uint64_t width = DtypeBits(tensor.dtype) / 8;
  auto end = static_cast<uint64_t>(tensor.offset);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 0) return;
    end += static_cast<uint64_t>((tensor.shape[i] - 1) * tensor.strides[i]);
  }
  Check((end + 1) * width <= storage.size);
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool whole = bytes[0] == 'w';
  bytes.remove_prefix(1);
  MemoryFileSystem files;
  files.Put("/a.pt", whole ? std::string(bytes)
                           : ZipBytes({{"a/data.pkl", std::string(bytes)},
                                       {"a/data/0", std::string(24, 'x')},
                                       {"a/data/1", std::string(8, 'y')}}));
  const absl::StatusOr<InputFile> file = InputFile::Open("/a.pt", files);
  if (!file.ok()) return;
  const auto layout = ReadPtLayout(*file, {.check_crc32 = false});
  if (!layout.ok()) {
    Check(!layout.status().message().empty());
    return;
  }
  for (size_t i = 0; i < layout->tensors.size(); ++i) {
    const PtTensor& tensor = layout->tensors[i];
    Check(i == 0 || layout->tensors[i - 1].name < tensor.name);
    const ZipEntry& storage = layout->storages.at(tensor.storage);
    Check(storage.offset <= file->size() &&
          storage.size <= file->size() - storage.offset);
    CheckTensor(tensor, storage);
  }
}

}  // namespace trainyard

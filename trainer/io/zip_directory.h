// Reads zip archives whose entries are stored without compression, as those of
// PyTorch's .pt files are. The input may come from anybody: an accepted
// directory lists entries that lie in the file and do not overlap. Free of
// libtorch.
//
//   absl::StatusOr<std::vector<ZipEntry>> entries = ReadZipDirectory(file);
//   if (!entries.ok()) return entries.status();
//   for (const ZipEntry& entry : *entries) {
//     std::string bytes(entry.size, '\0');
//     absl::Status read = ReadZipEntry(file, entry, bytes.data());
//   }
//
// Errors name the file. Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_ZIP_DIRECTORY_H_
#define TRAINYARD_TRAINER_IO_ZIP_DIRECTORY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/io/input_file.h"

namespace trainyard {

// The maximum size of an archive's directory.
inline constexpr uint64_t kMaxZipDirectory = uint64_t{64} << 20;

struct ZipEntry {
  std::string name;
  // The position and the number of its bytes in the file.
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t crc32 = 0;
  // Whether the bytes are those of the entry: neither compressed nor encrypted.
  bool plain = true;
};

// Returns the entries in the order of their bytes. Names are unique. Returns
// DataLoss if the file is damaged or no zip archive.
absl::StatusOr<std::vector<ZipEntry>> ReadZipDirectory(const InputFile& file);

// Reads the `entry.size` bytes of an entry. Returns DataLoss if they do not
// have its CRC-32, unless `check_crc32` is false, and Unimplemented if the
// entry is not plain.
absl::Status ReadZipEntry(const InputFile& file, const ZipEntry& entry,
                          void* to, bool check_crc32 = true);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_ZIP_DIRECTORY_H_

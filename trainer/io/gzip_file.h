// Reads a whole file and unpacks it if it is gzip. Free of libtorch.
//
//   absl::StatusOr<std::string> text = ReadMaybeGzipFile("labels.gz");
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_GZIP_FILE_H_
#define TRAINYARD_TRAINER_IO_GZIP_FILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

namespace trainyard {

// Returns the content of a plain or gzip file. Returns NotFound or
// PermissionDenied if the file cannot be opened, DataLoss if it is damaged or
// truncated, and ResourceExhausted if the content has more than `max_bytes`, so
// that a crafted file cannot fill the memory.
absl::StatusOr<std::string> ReadMaybeGzipFile(const std::string& path,
                                              size_t max_bytes = size_t{1}
                                                                 << 34);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_GZIP_FILE_H_

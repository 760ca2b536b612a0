// Reads a whole file, unpacked if it is gzip. Free of libtorch.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_GZIP_FILE_H_
#define TRAINYARD_TRAINER_IO_GZIP_FILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

namespace trainyard {

// The content of a plain or gzip file. NotFound or PermissionDenied if it
// cannot be opened; DataLoss if it is damaged or cut short; ResourceExhausted
// past `max_bytes`, so that a crafted file cannot fill the memory.
absl::StatusOr<std::string> ReadMaybeGzipFile(const std::string& path,
                                              size_t max_bytes = size_t{1}
                                                                 << 34);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_GZIP_FILE_H_

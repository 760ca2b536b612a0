// AtomicFile writes a file that is there completely or not at all. It writes to
// a temporary file in the same folder and renames it once all bytes are on the
// disk; an existing file keeps its content until then. Free of libtorch.
//
//   absl::Status all = WriteFileAtomically("model.bin", "all of its bytes");
//
//   absl::StatusOr<AtomicFile> file = AtomicFile::Create("model.bin", 24);
//   if (!file.ok()) return file.status();
//   absl::Status status = file->Append(data, 24);
//   if (status.ok()) status = file->Commit();  // durable if OK
//
// A process that is killed before Commit leaves a file ".tmp-…" behind, which
// the owner of the folder may delete. Thread-compatible.
#ifndef TRAINYARD_TRAINER_IO_ATOMIC_FILE_H_
#define TRAINYARD_TRAINER_IO_ATOMIC_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/io/output_file.h"

namespace trainyard {

class AtomicFile {
 public:
  // The prefix of the temporary file's name.
  static constexpr char kPrefix[] = ".tmp-";

  // Reserves `size` bytes on the disk, so that a full disk is an error now and
  // not later. Returns InvalidArgument if `path` ends with a slash.
  static absl::StatusOr<AtomicFile> Create(const std::string& path,
                                           uint64_t size = 0);

  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Deletes the temporary file unless it was committed.
  ~AtomicFile() = default;

  absl::Status Append(const void* data, size_t size);

  // Renames the file to its path, replacing an existing file. The last call.
  // After an error the existing file is unchanged, unless the message says that
  // only the sync of the folder failed.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, OutputFile file);

  std::string path_;
  OutputFile file_;  // the temporary file
};

// Writes a whole file: Create, Append and Commit in one call.
absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view bytes);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_ATOMIC_FILE_H_

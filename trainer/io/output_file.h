// OutputFile writes a new file, from its beginning to its end. Free of
// libtorch.
//
//   absl::StatusOr<OutputFile> file = OutputFile::Create("model.bin", 24);
//   if (!file.ok()) return file.status();
//   absl::Status status = file->Append(data, 24);
//   if (status.ok()) status = file->Finish();  // on the disk, and closed
//
// The first error is the last: what a failed write or fsync has left is not to
// be trusted, so the file is closed, removed, and never tried again.
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_IO_OUTPUT_FILE_H_
#define TRAINYARD_TRAINER_IO_OUTPUT_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/io/file_system.h"

namespace trainyard {

class OutputFile {
 public:
  // Follows no link and takes nothing that is there: AlreadyExists. Takes
  // `size` bytes of the disk at once, so that a full disk shows now.
  static absl::StatusOr<OutputFile> Create(
      const std::string& path, uint64_t size = 0,
      FileSystem& files = RealFileSystem());

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Removes what was not finished.
  ~OutputFile();

  const std::string& path() const { return path_; }
  uint64_t written() const { return written_; }

  absl::Status Append(const void* data, size_t size);

  // The last call.
  absl::Status Finish();

 private:
  OutputFile(std::string path, int file, FileSystem& files);
  absl::Status Fail(int64_t error, const char* what);
  void Discard();

  std::string path_;
  int file_;
  FileSystem* files_;
  uint64_t size_ = 0;  // room that was made
  uint64_t written_ = 0;
};

// Puts the names in a folder on the disk.
absl::Status SyncFolder(const std::string& folder,
                        FileSystem& files = RealFileSystem());

// What a failed call means to whoever reads the message, e.g.
// ResourceExhausted for a full disk. `error` is minus its number.
absl::Status FileError(int64_t error, const std::string& message);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_OUTPUT_FILE_H_

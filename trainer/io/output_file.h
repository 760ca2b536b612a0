// OutputFile writes a new file from beginning to end. Free of libtorch.
//
//   absl::StatusOr<OutputFile> file = OutputFile::Create("model.bin", 24);
//   if (!file.ok()) return file.status();
//   absl::Status status = file->Append(data, 24);
//   if (status.ok()) status = file->Finish();  // durable and closed if OK
//
// After an error the file is closed and deleted, and every later call fails:
// nobody knows what a failed write or fsync has left. Thread-compatible.
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
  // Returns AlreadyExists if the path exists, even as a link. Reserves `size`
  // bytes on the disk, so that a full disk is an error now and not later.
  static absl::StatusOr<OutputFile> Create(
      const std::string& path, uint64_t size = 0,
      FileSystem& files = RealFileSystem());

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Deletes the file unless it was finished.
  ~OutputFile();

  const std::string& path() const { return path_; }

  absl::Status Append(const void* data, size_t size);

  // Syncs the file to the disk and closes it. The last call.
  absl::Status Finish();

 private:
  OutputFile(std::string path, int file, FileSystem& files);
  absl::Status Fail(int64_t error, const char* what);
  void Discard();

  std::string path_;
  int file_;
  FileSystem* files_;
  uint64_t size_ = 0;  // reserved
  uint64_t written_ = 0;
};

// Syncs the names of a folder's files to the disk.
absl::Status SyncFolder(const std::string& folder,
                        FileSystem& files = RealFileSystem());

// Returns the status of a failed system call, e.g. ResourceExhausted for a full
// disk. `error` is minus the errno.
absl::Status FileError(int64_t error, const std::string& message);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_OUTPUT_FILE_H_

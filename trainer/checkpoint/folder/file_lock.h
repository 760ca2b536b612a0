// FileLock keeps other processes out while it lives. The kernel releases it
// when the process ends, however that happens. Free of libtorch.
//
//   absl::StatusOr<FileLock> lock = FileLock::Take("run/LOCK");
//   if (!lock.ok()) return lock.status();  // Unavailable, and who has it
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FOLDER_FILE_LOCK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FOLDER_FILE_LOCK_H_

#include <absl/status/statusor.h>

#include <string>

#include "trainer/io/file_system.h"

namespace trainyard {

class FileLock {
 public:
  // Creates the file if it does not exist. Returns Unavailable, naming the
  // process, if another process has the lock.
  static absl::StatusOr<FileLock> Take(const std::string& path,
                                       FileSystem& files = RealFileSystem());

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(int file, FileSystem& files) : file_(file), files_(&files) {}

  int file_;
  FileSystem* files_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FOLDER_FILE_LOCK_H_

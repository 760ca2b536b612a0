// InputFile reads parts of a file into the caller's memory. It opens regular
// files only: reading a pipe or a device could block forever. Free of libtorch.
//
//   absl::StatusOr<InputFile> file = InputFile::Open("model.safetensors");
//   if (!file.ok()) return file.status();
//   absl::Status status = file->ReadAt(0, buffer, 8);
//
// Files are not mapped: if another program truncates the file meanwhile, a read
// returns an error and does not raise a signal. Thread-safe once open.
#ifndef TRAINYARD_TRAINER_IO_INPUT_FILE_H_
#define TRAINYARD_TRAINER_IO_INPUT_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/io/file_system.h"

namespace trainyard {

class InputFile {
 public:
  // Whether a symbolic link is followed or rejected. Reject links in folders
  // whose content is not trusted.
  enum class Links { kFollow, kRefuse };

  // Returns InvalidArgument if it is not a regular file.
  static absl::StatusOr<InputFile> Open(const std::string& path,
                                        FileSystem& files = RealFileSystem(),
                                        Links links = Links::kFollow);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // The size at the time of Open.
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Reads `count` bytes, starting at `offset`. Returns DataLoss if the file is
  // shorter, or if the disk fails.
  absl::Status ReadAt(uint64_t offset, void* to, size_t count) const;

 private:
  InputFile(std::string path, int file, FileSystem& files);

  std::string path_;
  int file_;
  FileSystem* files_;
  uint64_t size_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_INPUT_FILE_H_

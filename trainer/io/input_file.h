// InputFile reads parts of a file into memory of the caller's. Regular files
// only: a pipe or a device never ends, and would be waited for. Free of
// libtorch.
//
//   absl::StatusOr<InputFile> file = InputFile::Open("model.safetensors");
//   if (!file.ok()) return file.status();  // "model.safetensors: cannot be …"
//   absl::Status status = file->ReadAt(0, buffer, 8);
//
// Nothing is mapped: a file that another program cuts short meanwhile gives an
// error, not a signal. Thread-safe once open.
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
  // Whether a link is opened, in place of which a stranger may have put it.
  enum class Links { kFollow, kRefuse };

  static absl::StatusOr<InputFile> Open(const std::string& path,
                                        FileSystem& files = RealFileSystem(),
                                        Links links = Links::kFollow);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // When it was opened.
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Fills `to` with `count` bytes from `offset` on. DataLoss if the file ends
  // before.
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

#include "trainer/checkpoint/input_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trainyard {

InputFile::InputFile(std::string path, int descriptor, uint64_t size)
    : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<InputFile> InputFile::Open(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
  const int descriptor =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  }
  struct stat info = {};
  const bool known = fstat(descriptor, &info) == 0;
  InputFile file(path, descriptor, static_cast<uint64_t>(info.st_size));
  if (!known) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, S_ISDIR(info.st_mode) ? ": is a folder, not a file"
                                                 : ": is not a regular file"));
  }
  return file;
}

absl::Status InputFile::ReadAt(uint64_t offset, void* to, size_t count) const {
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    // Linux reads at most 2 GiB at a time.
    const size_t part = std::min(count, size_t{1} << 30);
    const ssize_t got =
        pread(descriptor_, bytes, part, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat(path_, ": cannot be read at byte ", offset));
    }
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(path_, ": ends at byte ", offset,
                                              ", with ", count,
                                              " more to be read"));
    }
    bytes += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace trainyard

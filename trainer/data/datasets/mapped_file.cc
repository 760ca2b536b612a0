#include "trainer/data/datasets/mapped_file.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace trainyard {

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // Non-blocking: opening a pipe would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a regular file"));
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  int error = 0;
  if (size > 0) {  // an empty file cannot be mapped
    data = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    error = errno;
  }
  close(fd);  // the mapping remains valid
  if (data == MAP_FAILED) {
    return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot be mapped"));
  }
  return MappedFile(path, static_cast<const char*>(data), size);
}

MappedFile::MappedFile(std::string path, const char* data, size_t size)
    : path_(std::move(path)), data_(data), size_(size) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void MappedFile::ExpectRandomReads() const {
  if (data_ != nullptr) madvise(const_cast<char*>(data_), size_, MADV_RANDOM);
}

void MappedFile::ReadAhead(size_t offset, size_t count) const {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t begin = offset / page * page;
  if (data_ == nullptr || offset + count > size_) return;
  // Only a hint: failures are ignored.
  madvise(const_cast<char*>(data_) + begin, offset + count - begin,
          MADV_WILLNEED);
}

}  // namespace trainyard

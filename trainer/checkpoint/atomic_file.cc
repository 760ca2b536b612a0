#include "trainer/checkpoint/atomic_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

namespace trainyard {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

// What errno says. What a failed write or fsync left is not to be trusted: the
// temporary file goes.
absl::Status AtomicFile::Error(const char* what) {
  const int code = errno;
  if (descriptor_ >= 0) {
    close(std::exchange(descriptor_, -1));
    unlink(temporary_.c_str());
  }
  return absl::ErrnoToStatus(code, absl::StrCat(path_, ": ", what));
}

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path,
                                              uint64_t size) {
  const std::string folder = FolderOf(path);
  if (folder.size() == path.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", path, "\" names no file"));
  }
  std::random_device random;
  std::string temporary;
  int descriptor = -1;
  do {
    temporary = absl::StrCat(folder, kPrefix, getpid(), "-",
                             absl::Hex(random(), absl::kZeroPad8));
    // O_EXCL follows no link and takes nothing that is there.
    descriptor =
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && (errno == EEXIST || errno == EINTR));
  AtomicFile file(path, temporary, descriptor);
  if (descriptor < 0) return file.Error("no file can be made in its folder");
  if (size > 0) {
    int result = 0;
    do {
      result = fallocate(descriptor, 0, 0, static_cast<off_t>(size));
    } while (result != 0 && errno == EINTR);
    // Not every file system can; there a full disk shows at a later write.
    if (result != 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
      return file.Error("no room can be made for it");
    }
  }
  return file;
}

absl::Status AtomicFile::Append(const void* data, size_t size) {
  if (descriptor_ < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, ": written to after its end or an error"));
  }
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done =
        write(descriptor_, bytes, std::min(size, size_t{1} << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return Error("cannot be written");
    bytes += done;
    size -= static_cast<size_t>(done);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (descriptor_ < 0) return Append(nullptr, 0);
  const off_t end = lseek(descriptor_, 0, SEEK_CUR);
  // Less may have been written than there was room made for.
  if (end < 0 || ftruncate(descriptor_, end) != 0) {
    return Error("cannot be written");
  }
  // Never tried again: after an error the kernel forgets what is not written.
  if (fsync(descriptor_) != 0) return Error("cannot be put on the disk");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Error("cannot be given its name");
  }
  // From here on the temporary name is gone.
  if (close(std::exchange(descriptor_, -1)) != 0) {
    return Error("cannot be closed");
  }
  return SyncFolder();
}

// Puts the new name on the disk.
absl::Status AtomicFile::SyncFolder() const {
  const int folder =
      open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && fsync(folder) == 0;
  const int code = errno;
  if (folder >= 0) close(folder);
  if (synced) return absl::OkStatus();
  return absl::ErrnoToStatus(
      code, absl::StrCat(path_, ": its name cannot be put on the disk"));
}

}  // namespace trainyard

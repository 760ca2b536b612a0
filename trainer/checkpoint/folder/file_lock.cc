#include "trainer/checkpoint/folder/file_lock.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "trainer/io/output_file.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

// The text in the lock file: who has the lock.
std::string Holder() {
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  return absl::StrCat("process ", getpid(), " on ", host.data());
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), files_(other.files_) {}

FileLock::~FileLock() {
  if (file_ >= 0) files_->Close(file_);
}

absl::StatusOr<FileLock> FileLock::Take(const std::string& path,
                                        FileSystem& files) {
  const int file = files.Open(path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (file < 0) {
    return FileError(file, absl::StrCat(path, ": cannot be opened"));
  }
  FileLock lock(file, files);
  const int taken = files.Lock(file);
  if (taken == -EWOULDBLOCK) {
    std::string holder(256, '\0');
    const int64_t got = files.ReadAt(file, holder.data(), holder.size(), 0);
    holder.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return absl::UnavailableError(absl::StrCat(
        path, ": another process has the lock",
        holder.empty() ? "" : absl::StrCat(": ", QuotedName(holder))));
  }
  if (taken < 0) {
    return FileError(taken, absl::StrCat(path, ": cannot be locked"));
  }
  // Errors are ignored: the lock works without the text.
  const std::string holder = Holder();
  if (files.Truncate(file, 0) == 0) {
    files.Write(file, holder.data(), holder.size());
  }
  return lock;
}

}  // namespace trainyard

#include "trainer/io/output_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trainyard {
namespace {

// Larger writes are not faster, and this much is done soon after a signal.
constexpr size_t kLargestWrite = size_t{8} << 20;

}  // namespace

absl::Status FileError(int64_t error, const std::string& message) {
  const int code = static_cast<int>(-error);
  // An exceeded quota or file size limit is a full disk too; absl maps them to
  // other codes.
  if (code == EDQUOT || code == EFBIG) {
    const absl::Status status = absl::ErrnoToStatus(code, message);
    return absl::ResourceExhaustedError(status.message());
  }
  return absl::ErrnoToStatus(code, message);
}

OutputFile::OutputFile(std::string path, int file, FileSystem& files)
    : path_(std::move(path)), file_(file), files_(&files) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      files_(other.files_),
      size_(other.size_),
      written_(other.written_) {}

OutputFile::~OutputFile() { Discard(); }

void OutputFile::Discard() {
  if (file_ < 0) return;
  files_->Close(std::exchange(file_, -1));
  files_->RemoveFile(path_);
}

absl::Status OutputFile::Fail(int64_t error, const char* what) {
  Discard();
  return FileError(error, absl::StrCat(path_, ": ", what));
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path,
                                              uint64_t size,
                                              FileSystem& files) {
  int file = 0;
  do {
    file = files.Open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  } while (file == -EINTR);
  if (file < 0) {
    return FileError(file, absl::StrCat(path, ": cannot be created"));
  }
  OutputFile output(path, file, files);
  if (size == 0) return output;
  int result = 0;
  do {
    result = files.Allocate(file, size);
  } while (result == -EINTR);
  // Not every file system supports it. Then a full disk fails a later write.
  if (result < 0 && result != -EOPNOTSUPP && result != -ENOSYS) {
    return output.Fail(result, "cannot reserve disk space for it");
  }
  output.size_ = result < 0 ? 0 : size;
  return output;
}

absl::Status OutputFile::Append(const void* data, size_t size) {
  if (file_ < 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path_, ": cannot be written to after Finish or after an error"));
  }
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const int64_t done =
        files_->Write(file_, bytes, std::min(size, kLargestWrite));
    if (done == -EINTR) continue;
    if (done < 0) return Fail(done, "cannot be written");
    bytes += done;
    size -= static_cast<size_t>(done);
    const uint64_t before = written_;
    written_ += static_cast<uint64_t>(done);
    if (written_ / kLargestWrite > before / kLargestWrite) {
      // The disk works while the caller prepares the next bytes.
      files_->StartSync(file_);
    }
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Finish() {
  if (file_ < 0) return Append(nullptr, 0);
  if (size_ > written_) {
    const int cut = files_->Truncate(file_, written_);
    if (cut < 0) return Fail(cut, "cannot be written");
  }
  // Never retried: after an error the kernel may have dropped unwritten data.
  const int synced = files_->Sync(file_);
  if (synced < 0) return Fail(synced, "cannot be synced to the disk");
  const int closed = files_->Close(std::exchange(file_, -1));
  if (closed < 0) {
    files_->RemoveFile(path_);
    return Fail(closed, "cannot be closed");
  }
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::string& folder, FileSystem& files) {
  const int file = files.Open(folder, O_RDONLY | O_DIRECTORY);
  if (file < 0) {
    return FileError(file, absl::StrCat(folder, ": cannot be opened"));
  }
  const int synced = files.Sync(file);
  files.Close(file);
  if (synced == 0) return absl::OkStatus();
  return FileError(
      synced,
      absl::StrCat(folder, ": the folder cannot be synced to the disk"));
}

}  // namespace trainyard

#include "trainer/io/input_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trainyard {
namespace {

absl::Status Error(int64_t error, const std::string& message) {
  return absl::ErrnoToStatus(static_cast<int>(-error), message);
}

}  // namespace

InputFile::InputFile(std::string path, int file, FileSystem& files)
    : path_(std::move(path)), file_(file), files_(&files) {}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      files_(other.files_),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (file_ >= 0) files_->Close(file_);
}

absl::StatusOr<InputFile> InputFile::Open(const std::string& path,
                                          FileSystem& files, Links links) {
  const int descriptor =
      files.Open(path, O_RDONLY | (links == Links::kRefuse ? O_NOFOLLOW : 0));
  if (descriptor == -ELOOP && links == Links::kRefuse) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a link, not a file"));
  }
  if (descriptor < 0) {
    return Error(descriptor, absl::StrCat(path, ": cannot be opened"));
  }
  InputFile file(path, descriptor, files);
  FileInfo info;
  const int known = files.StatOpen(descriptor, info);
  if (known < 0) return Error(known, absl::StrCat(path, ": cannot be read"));
  if (info.kind != FileInfo::Kind::kFile) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, info.kind == FileInfo::Kind::kFolder
                               ? ": is a folder, not a file"
                               : ": is not a regular file"));
  }
  file.size_ = info.size;
  return file;
}

absl::Status InputFile::ReadAt(uint64_t offset, void* to, size_t count) const {
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    // Linux reads at most 2 GiB at a time.
    const int64_t got =
        files_->ReadAt(file_, bytes, std::min(count, size_t{1} << 30), offset);
    if (got == -EINTR) continue;
    if (got == -EIO) {
      // The disk cannot read the data: treat it as damage.
      return absl::DataLossError(absl::StrCat(
          path_, ": cannot be read at byte ", offset, ": the disk fails"));
    }
    if (got < 0) {
      return Error(got,
                   absl::StrCat(path_, ": cannot be read at byte ", offset));
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

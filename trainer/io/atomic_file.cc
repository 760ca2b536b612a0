#include "trainer/io/atomic_file.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <random>
#include <utility>

namespace trainyard {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

// The error of the temporary file as an error of the file.
absl::Status AboutPath(const absl::Status& status, const std::string& temporary,
                       const std::string& path) {
  const absl::string_view message = status.message();
  if (message.substr(0, temporary.size()) != temporary) return status;
  return absl::Status(status.code(),
                      absl::StrCat(path, message.substr(temporary.size())));
}

}  // namespace

AtomicFile::AtomicFile(std::string path, OutputFile file)
    : path_(std::move(path)), file_(std::move(file)) {}

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path,
                                              uint64_t size) {
  const std::string folder = FolderOf(path);
  if (folder.size() == path.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", path, "\" is not the path of a file"));
  }
  std::random_device random;
  for (;;) {
    const std::string temporary = absl::StrCat(
        folder, kPrefix, getpid(), "-", absl::Hex(random(), absl::kZeroPad8));
    absl::StatusOr<OutputFile> file = OutputFile::Create(temporary, size);
    if (file.ok()) return AtomicFile(path, *std::move(file));
    if (!absl::IsAlreadyExists(file.status())) {
      return AboutPath(file.status(), temporary, path);
    }
  }
}

absl::Status AtomicFile::Append(const void* data, size_t size) {
  return AboutPath(file_.Append(data, size), file_.path(), path_);
}

absl::Status AtomicFile::Commit() {
  const absl::Status finished = file_.Finish();
  if (!finished.ok()) return AboutPath(finished, file_.path(), path_);
  const int renamed = RealFileSystem().Rename(file_.path(), path_);
  if (renamed < 0) {
    RealFileSystem().RemoveFile(file_.path());
    return FileError(renamed, absl::StrCat(path_, ": cannot be renamed to"));
  }
  return SyncFolder(FolderOf(path_));
}

absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view bytes) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, bytes.size());
  if (!file.ok()) return file.status();
  const absl::Status written = file->Append(bytes.data(), bytes.size());
  return written.ok() ? file->Commit() : written;
}

}  // namespace trainyard

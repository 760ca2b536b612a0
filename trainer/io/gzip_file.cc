#include "trainer/io/gzip_file.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <type_traits>

namespace trainyard {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

struct CloseGz {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using GzFile = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGz>;

absl::Status Damaged(const std::string& path, gzFile file) {
  int code = Z_OK;
  const absl::string_view reported = gzerror(file, &code);
  // zlib's message starts with the file descriptor: drop it.
  const size_t name_end = reported.find(": ");
  const absl::string_view message =
      name_end == reported.npos ? reported : reported.substr(name_end + 2);
  const bool cut = code == Z_BUF_ERROR;
  return absl::DataLossError(absl::StrCat(
      path,
      cut ? ": the gzip file is cut short (" : ": the gzip file is damaged (",
      code == Z_ERRNO ? absl::string_view("it cannot be read") : message, ")"));
}

absl::StatusOr<GzFile> Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a folder, not a file"));
  }
  GzFile file(gzdopen(fd, "rb"));
  if (file == nullptr) {
    close(fd);
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": no memory to read it"));
  }
  gzbuffer(file.get(), kChunk);
  return file;
}

}  // namespace

absl::StatusOr<std::string> ReadMaybeGzipFile(const std::string& path,
                                              size_t max_bytes) {
  absl::StatusOr<GzFile> file = Open(path);
  if (!file.ok()) return file.status();
  std::string content;
  while (true) {
    const size_t filled = content.size();
    // Grows with the content: a small file needs little memory, a large one few
    // copies.
    content.resize(filled + std::max(kChunk, filled));
    const size_t room = std::min<size_t>(content.size() - filled, 1U << 30);
    const int read = gzread(file->get(), content.data() + filled,
                            static_cast<unsigned>(room));
    // zlib forgets that a file is cut with the next read: ask after each.
    int code = Z_OK;
    gzerror(file->get(), &code);
    if (read < 0 || code != Z_OK) return Damaged(path, file->get());
    content.resize(filled + static_cast<size_t>(read));
    if (content.size() > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": unpacks to more than ", max_bytes, " bytes"));
    }
    if (read == 0) break;
  }
  // zlib 1.3.2 takes a gzip file whose header is cut or damaged for a plain
  // one.
  if (gzdirect(file->get()) == 1 && content.compare(0, 2, "\x1f\x8b") == 0) {
    return absl::DataLossError(absl::StrCat(
        path, ": the gzip file is damaged (its header is cut or wrong)"));
  }
  return content;
}

}  // namespace trainyard

#include "tracking/sinks/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace trainyard {
namespace {

constexpr size_t kBufferSize = 1 << 16;

[[noreturn]] void Throw(const std::string& path, const char* what) {
  throw std::system_error(errno, std::generic_category(),
                          path + ": cannot be " + what);
}

void MoveAside(const std::filesystem::path& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || info.st_size == 0) return;
  std::string name = path.filename();
  // TensorBoard reads whatever has this in its name.
  const size_t tensorboard = name.find("tfevents");
  if (tensorboard != std::string::npos) name.erase(tensorboard, 2);
  const std::filesystem::path aside = path.parent_path() / ("old-" + name);
  std::filesystem::rename(path, aside);
}

}  // namespace

AppendFile::~AppendFile() {
  try {
    Close();
  } catch (const std::system_error&) {
    // Who wants to know calls Flush.
  }
}

void AppendFile::Close() {
  if (fd_ < 0) return;
  Flush();
  close(fd_);
  fd_ = -1;
}

void AppendFile::Open(const std::string& path, int64_t position) {
  Close();
  path_ = path;
  buffer_.clear();
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  if (position == 0) MoveAside(path);
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) Throw(path, "opened");
  struct stat info = {};
  if (fstat(fd_, &info) != 0) Throw(path, "looked at");
  if (info.st_size < position) {
    throw std::runtime_error(path + ": has " + std::to_string(info.st_size) +
                             " bytes, and the checkpoint was made at " +
                             std::to_string(position));
  }
  if (ftruncate(fd_, position) != 0) Throw(path, "cut");
  written_ = position;
}

void AppendFile::Append(std::string_view text) {
  buffer_.append(text);
  if (buffer_.size() >= kBufferSize) Flush();
}

void AppendFile::Flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t size =
        write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const int error = errno;
      // Nothing torn stays, and a later try does not repeat what is there.
      if (ftruncate(fd_, written_) != 0) buffer_.clear();
      errno = error;
      Throw(path_, "written");
    }
    done += static_cast<size_t>(size);
  }
  written_ += static_cast<int64_t>(done);
  buffer_.clear();
}

int64_t AppendFile::Sync() {
  Flush();
  if (fd_ >= 0 && fdatasync(fd_) != 0) Throw(path_, "put on the disk");
  return written_;
}

}  // namespace trainyard

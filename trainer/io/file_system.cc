#include "trainer/io/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

namespace trainyard {
namespace {

// Returns minus the errno if libc returned -1.
template <class Result>
Result OrError(Result result) {
  return result < 0 ? static_cast<Result>(-errno) : result;
}

FileInfo InfoOf(const struct stat& stat) {
  FileInfo info{.size = static_cast<uint64_t>(stat.st_size),
                .modified = stat.st_mtime,
                .owner = stat.st_uid,
                .mode = stat.st_mode & 07777U};
  if (S_ISREG(stat.st_mode)) info.kind = FileInfo::Kind::kFile;
  if (S_ISDIR(stat.st_mode)) info.kind = FileInfo::Kind::kFolder;
  if (S_ISLNK(stat.st_mode)) info.kind = FileInfo::Kind::kLink;
  return info;
}

class PosixFileSystem final : public FileSystem {
 public:
  int Open(const std::string& path, int flags) override {
    return OrError(
        open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
  }
  int64_t Write(int file, const void* data, size_t size) override {
    return OrError<int64_t>(write(file, data, size));
  }
  int64_t ReadAt(int file, void* to, size_t size, uint64_t offset) override {
    return OrError<int64_t>(pread(file, to, size, static_cast<off_t>(offset)));
  }
  int Allocate(int file, uint64_t size) override {
    return OrError(fallocate(file, 0, 0, static_cast<off_t>(size)));
  }
  int Truncate(int file, uint64_t size) override {
    return OrError(ftruncate(file, static_cast<off_t>(size)));
  }
  void StartSync(int file) override {
    // Starts writing all dirty pages without waiting, so it does not consume an
    // error that fsync must return.
    sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  int Sync(int file) override { return OrError(fsync(file)); }
  int Close(int file) override { return OrError(close(file)); }
  int Lock(int file) override {
    return OrError(flock(file, LOCK_EX | LOCK_NB));
  }

  int StatOpen(int file, FileInfo& info) override {
    struct stat found = {};
    const int result = OrError(fstat(file, &found));
    info = InfoOf(found);
    return result;
  }
  int Stat(const std::string& path, FileInfo& info) override {
    struct stat found = {};
    const int result = OrError(lstat(path.c_str(), &found));
    info = InfoOf(found);
    return result;
  }
  int List(const std::string& path, std::vector<std::string>& names) override {
    names.clear();
    DIR* const folder = opendir(path.c_str());
    if (folder == nullptr) return -errno;
    errno = 0;
    while (const dirent* entry = readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error = errno;
    closedir(folder);
    return -error;
  }
  int FreeBytes(const std::string& path, uint64_t& bytes) override {
    struct statvfs found = {};
    const int result = OrError(statvfs(path.c_str(), &found));
    bytes = uint64_t{found.f_bavail} * found.f_frsize;
    return result;
  }

  int MakeFolder(const std::string& path) override {
    return OrError(mkdir(path.c_str(), 0777));
  }
  int RemoveFile(const std::string& path) override {
    return OrError(unlink(path.c_str()));
  }
  int RemoveFolder(const std::string& path) override {
    return OrError(rmdir(path.c_str()));
  }
  int Rename(const std::string& from, const std::string& to) override {
    return OrError(rename(from.c_str(), to.c_str()));
  }
  int RenameNew(const std::string& from, const std::string& to) override {
    return OrError(renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                             RENAME_NOREPLACE));
  }
  int Exchange(const std::string& one, const std::string& other) override {
    return OrError(renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(),
                             RENAME_EXCHANGE));
  }
};

}  // namespace

FileSystem& RealFileSystem() {
  // Has no state, so all threads share one object.
  static PosixFileSystem files;
  return files;
}

}  // namespace trainyard

// FileSystem has every system call that checkpoints make, so that a test can
// fail, interrupt or count each of them. A method is one system call and
// returns what the kernel returns: a count or a descriptor, or minus the errno.
// Free of libtorch.
//
//   FileSystem& files = RealFileSystem();
//   const int file = files.Open("run/LOCK", O_RDWR | O_CREAT);
//   if (file < 0) return absl::ErrnoToStatus(-file, "run/LOCK");
//
// RealFileSystem is thread-safe.
#ifndef TRAINYARD_TRAINER_IO_FILE_SYSTEM_H_
#define TRAINYARD_TRAINER_IO_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct FileInfo {
  enum class Kind { kFile, kFolder, kLink, kOther };
  Kind kind = Kind::kOther;
  uint64_t size = 0;
  // Seconds since 1970.
  int64_t modified = 0;
  uint32_t owner = 0;
  // The permission bits, e.g. 0755.
  uint32_t mode = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Returns a descriptor that child processes do not inherit. Does not block on
  // a pipe.
  virtual int Open(const std::string& path, int flags) = 0;
  virtual int64_t Write(int file, const void* data, size_t size) = 0;
  virtual int64_t ReadAt(int file, void* to, size_t size, uint64_t offset) = 0;
  virtual int Allocate(int file, uint64_t size) = 0;
  virtual int Truncate(int file, uint64_t size) = 0;
  // Asks the kernel to start writing to the disk. Only a hint: Sync reports
  // errors.
  virtual void StartSync(int /*file*/) {}
  virtual int Sync(int file) = 0;
  virtual int Close(int file) = 0;
  // Takes an exclusive lock until the file is closed. Returns -EWOULDBLOCK if
  // another process has it.
  virtual int Lock(int file) = 0;

  virtual int StatOpen(int file, FileInfo& info) = 0;
  // Does not follow a link: describes the link itself.
  virtual int Stat(const std::string& path, FileInfo& info) = 0;
  // The names in a folder without "." and "..", in no order.
  virtual int List(const std::string& path,
                   std::vector<std::string>& names) = 0;
  // The space that this user may still use.
  virtual int FreeBytes(const std::string& path, uint64_t& bytes) = 0;

  virtual int MakeFolder(const std::string& path) = 0;
  virtual int RemoveFile(const std::string& path) = 0;
  virtual int RemoveFolder(const std::string& path) = 0;
  // Replaces `to` if it exists.
  virtual int Rename(const std::string& from, const std::string& to) = 0;
  // Returns -EEXIST if `to` exists.
  virtual int RenameNew(const std::string& from, const std::string& to) = 0;
  // Atomically exchanges two paths.
  virtual int Exchange(const std::string& one, const std::string& other) = 0;

  // Marks a point in a protocol, e.g. "commit.renamed". Does nothing, except in
  // tests, which may stop the process there.
  virtual void KillPoint(std::string_view /*name*/) {}
};

FileSystem& RealFileSystem();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_FILE_SYSTEM_H_

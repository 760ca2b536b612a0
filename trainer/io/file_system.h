// FileSystem is every call that checkpoints make to the system, so that a test
// can fail, cut short or count each one. A method is one system call, and
// returns what the kernel returns: a count or a descriptor, or minus the
// number of the error. Free of libtorch.
//
//   FileSystem& files = RealFileSystem();
//   const int file = files.Open("run/LOCK", O_RDWR | O_CREAT);
//   if (file < 0) return absl::ErrnoToStatus(-file, "run/LOCK");
//
// The real one is thread-safe.
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
  // The lowest twelve bits: 0755 and the like.
  uint32_t mode = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // A descriptor that child processes do not get. Waits for no pipe.
  virtual int Open(const std::string& path, int flags) = 0;
  virtual int64_t Write(int file, const void* data, size_t size) = 0;
  virtual int64_t ReadAt(int file, void* to, size_t size, uint64_t offset) = 0;
  virtual int Allocate(int file, uint64_t size) = 0;
  virtual int Truncate(int file, uint64_t size) = 0;
  // Lets the disk begin with what was written; only a hint. Errors are Sync's.
  virtual void StartSync(int /*file*/) {}
  virtual int Sync(int file) = 0;
  virtual int Close(int file) = 0;
  // For as long as the file is open; -EWOULDBLOCK if somebody else has it.
  virtual int Lock(int file) = 0;

  virtual int StatOpen(int file, FileInfo& info) = 0;
  // Of the link itself, if it is one.
  virtual int Stat(const std::string& path, FileInfo& info) = 0;
  // Without "." and "..", in no order.
  virtual int List(const std::string& path,
                   std::vector<std::string>& names) = 0;
  // What this user may still write.
  virtual int FreeBytes(const std::string& path, uint64_t& bytes) = 0;

  virtual int MakeFolder(const std::string& path) = 0;
  virtual int RemoveFile(const std::string& path) = 0;
  virtual int RemoveFolder(const std::string& path) = 0;
  // Takes the place of what has the name `to`.
  virtual int Rename(const std::string& from, const std::string& to) = 0;
  // -EEXIST if something has the name `to`.
  virtual int RenameNew(const std::string& from, const std::string& to) = 0;
  // Two names for each other's things, at one instant.
  virtual int Exchange(const std::string& one, const std::string& other) = 0;

  // A place in a protocol, "commit.renamed": nothing happens there but in
  // tests, which end the process or watch.
  virtual void KillPoint(std::string_view /*name*/) {}
};

FileSystem& RealFileSystem();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_FILE_SYSTEM_H_

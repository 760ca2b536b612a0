// MemoryFileSystem is a disk in memory. When its power is cut it loses
// everything that was not synced: bytes of files and names in folders. It is as
// harsh as a disk may be: a file whose name was synced but not its content is
// empty. Free of libtorch.
//
//   MemoryFileSystem files;
//   files.Put("/run/step-0000000001/manifest.pb", bytes);
//   files.CutPower();
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_IO_TESTING_MEMORY_FILE_SYSTEM_H_
#define TRAINYARD_TRAINER_IO_TESTING_MEMORY_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/io/file_system.h"

namespace trainyard {

class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  // Drops all data that was not synced, and closes all files.
  void CutPower();

  // Creates a durable file and the folders above it.
  void Put(const std::string& path, std::string content);

  int Open(const std::string& path, int flags) override;
  int64_t Write(int file, const void* data, size_t size) override;
  int64_t ReadAt(int file, void* to, size_t size, uint64_t offset) override;
  int Allocate(int, uint64_t) override { return 0; }
  int Truncate(int file, uint64_t size) override;
  int Sync(int file) override;
  int Close(int file) override;
  int Lock(int) override { return 0; }
  int StatOpen(int file, FileInfo& info) override;
  int Stat(const std::string& path, FileInfo& info) override;
  int List(const std::string& path, std::vector<std::string>& names) override;
  int FreeBytes(const std::string& path, uint64_t& bytes) override;
  int MakeFolder(const std::string& path) override;
  int RemoveFile(const std::string& path) override;
  int RemoveFolder(const std::string& path) override;
  int Rename(const std::string& from, const std::string& to) override;
  int RenameNew(const std::string& from, const std::string& to) override;
  int Exchange(const std::string& one, const std::string& other) override;

 private:
  struct Node;
  using NodePointer = std::shared_ptr<Node>;
  struct Place {
    NodePointer folder;
    std::string name;
  };

  NodePointer Find(const std::string& path) const;
  // The parent folder of a path (null if it does not exist) and the name in it.
  Place PlaceOf(const std::string& path) const;
  int Remove(const std::string& path, bool folder);

  NodePointer root_;
  std::map<int, NodePointer> open_;
  int next_ = 3;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_TESTING_MEMORY_FILE_SYSTEM_H_

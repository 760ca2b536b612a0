// FileSystemWrapper forwards every call, so that a test overrides only the
// calls that it changes. Free of libtorch.
//
//   class FullDisk final : public FileSystemWrapper {
//    public:
//     FullDisk() : FileSystemWrapper(RealFileSystem()) {}
//     int Allocate(int, uint64_t) override { return -ENOSPC; }
//   };
//
// As thread-safe as the wrapped file system.
#ifndef TRAINYARD_TRAINER_IO_TESTING_FILE_SYSTEM_WRAPPER_H_
#define TRAINYARD_TRAINER_IO_TESTING_FILE_SYSTEM_WRAPPER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/io/file_system.h"

namespace trainyard {

class FileSystemWrapper : public FileSystem {
 public:
  explicit FileSystemWrapper(FileSystem& inner) : inner_(inner) {}

  int Open(const std::string& path, int flags) override {
    return inner_.Open(path, flags);
  }
  int64_t Write(int file, const void* data, size_t size) override {
    return inner_.Write(file, data, size);
  }
  int64_t ReadAt(int file, void* to, size_t size, uint64_t offset) override {
    return inner_.ReadAt(file, to, size, offset);
  }
  int Allocate(int file, uint64_t size) override {
    return inner_.Allocate(file, size);
  }
  int Truncate(int file, uint64_t size) override {
    return inner_.Truncate(file, size);
  }
  void StartSync(int file) override { inner_.StartSync(file); }
  int Sync(int file) override { return inner_.Sync(file); }
  int Close(int file) override { return inner_.Close(file); }
  int Lock(int file) override { return inner_.Lock(file); }
  int StatOpen(int file, FileInfo& info) override {
    return inner_.StatOpen(file, info);
  }
  int Stat(const std::string& path, FileInfo& info) override {
    return inner_.Stat(path, info);
  }
  int List(const std::string& path, std::vector<std::string>& names) override {
    return inner_.List(path, names);
  }
  int FreeBytes(const std::string& path, uint64_t& bytes) override {
    return inner_.FreeBytes(path, bytes);
  }
  int MakeFolder(const std::string& path) override {
    return inner_.MakeFolder(path);
  }
  int RemoveFile(const std::string& path) override {
    return inner_.RemoveFile(path);
  }
  int RemoveFolder(const std::string& path) override {
    return inner_.RemoveFolder(path);
  }
  int Rename(const std::string& from, const std::string& to) override {
    return inner_.Rename(from, to);
  }
  int RenameNew(const std::string& from, const std::string& to) override {
    return inner_.RenameNew(from, to);
  }
  int Exchange(const std::string& one, const std::string& other) override {
    return inner_.Exchange(one, other);
  }
  void KillPoint(std::string_view name) override { inner_.KillPoint(name); }

 private:
  FileSystem& inner_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_TESTING_FILE_SYSTEM_WRAPPER_H_

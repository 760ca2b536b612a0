// FaultyFileSystem passes calls on until one that is to go wrong. Free of
// libtorch.
//
//   FaultyFileSystem files(RealFileSystem());
//   files.FailCall(17, EIO);   // the 17th call from now, and only that
//   files.EndAtCall(17);       // from it on none has any effect: as kill -9
//   files.EndAt("commit.renamed");
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_IO_TESTING_FAULTY_FILE_SYSTEM_H_
#define TRAINYARD_TRAINER_IO_TESTING_FAULTY_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/io/file_system.h"
#include "trainer/io/testing/file_system_wrapper.h"

namespace trainyard {

class FaultyFileSystem final : public FileSystemWrapper {
 public:
  explicit FaultyFileSystem(FileSystem& inner) : FileSystemWrapper(inner) {}

  // Counts from 1, from now on.
  void FailCall(int64_t number, int error);
  void EndAtCall(int64_t number);
  // When a kill point of this name is reached for the nth time.
  void EndAt(std::string name, int nth = 1);
  // Every write and read is cut short or interrupted, as the seed says.
  void MakeUneven(uint64_t seed);

  // Since the last of the calls above.
  int64_t calls() const { return calls_; }
  // Whether what was asked for has come to pass.
  bool happened() const { return happened_; }

  int Open(const std::string& path, int flags) override;
  int64_t Write(int file, const void* data, size_t size) override;
  int64_t ReadAt(int file, void* to, size_t size, uint64_t offset) override;
  int Allocate(int file, uint64_t size) override;
  int Truncate(int file, uint64_t size) override;
  int Sync(int file) override;
  int Close(int file) override;
  int Lock(int file) override;
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
  void KillPoint(std::string_view name) override;

 private:
  void Reset();
  // What the next call shall return instead of being made; 0: it is made.
  int Fault();
  // How many of so many bytes a call shall move, or minus an error.
  int64_t Uneven(size_t size);

  int64_t calls_ = 0;
  int64_t fail_at_ = 0;
  int64_t end_at_ = 0;
  int error_ = 0;
  std::string end_point_;
  int points_left_ = 0;
  bool ended_ = false;
  bool happened_ = false;
  uint64_t random_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_TESTING_FAULTY_FILE_SYSTEM_H_

// FaultyFileSystem forwards calls and injects one fault. Free of libtorch.
//
//   FaultyFileSystem files(RealFileSystem());
//   files.FailCall(17, EIO);   // the 17th call from now fails
//   files.StopAtCall(17);      // it and all later calls have no effect
//   files.StopAt("commit.renamed");
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

  // The call with this number fails, counted from 1 from now on. Replaces an
  // earlier fault, as the methods below do.
  void FailCall(int64_t number, int error);
  // As if the process were killed before this call: no later call has an
  // effect.
  void StopAtCall(int64_t number);
  // The same, when the kill point of this name is reached for the nth time.
  void StopAt(std::string name, int nth = 1);
  // Writes and reads are short or interrupted at random.
  void MakeUneven(uint64_t seed);

  // Whether the injected fault has fired.
  bool fault_fired() const { return fault_fired_; }

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
  // The error that the next call returns; 0 if it is forwarded.
  int Fault();
  // How many of `size` bytes a call reads or writes, or minus an errno.
  int64_t Uneven(size_t size);

  int64_t calls_ = 0;
  int64_t fail_at_ = 0;
  int64_t stop_at_ = 0;
  int error_ = 0;
  std::string stop_point_;
  int points_left_ = 0;
  bool stopped_ = false;
  bool fault_fired_ = false;
  uint64_t random_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_TESTING_FAULTY_FILE_SYSTEM_H_

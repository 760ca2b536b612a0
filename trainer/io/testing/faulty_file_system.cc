#include "trainer/io/testing/faulty_file_system.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trainyard {

void FaultyFileSystem::Reset() {
  calls_ = 0;
  fail_at_ = 0;
  stop_at_ = 0;
  points_left_ = 0;
  stopped_ = false;
  fault_fired_ = false;
  random_ = 0;
}

void FaultyFileSystem::FailCall(int64_t number, int error) {
  Reset();
  fail_at_ = number;
  error_ = error;
}

void FaultyFileSystem::StopAtCall(int64_t number) {
  Reset();
  stop_at_ = number;
}

void FaultyFileSystem::StopAt(std::string name, int nth) {
  Reset();
  stop_point_ = std::move(name);
  points_left_ = nth;
}

void FaultyFileSystem::MakeUneven(uint64_t seed) {
  Reset();
  random_ = 2 * seed + 1;
}

int FaultyFileSystem::Fault() {
  ++calls_;
  if (calls_ == stop_at_) stopped_ = fault_fired_ = true;
  if (stopped_) return -EIO;
  if (calls_ != fail_at_) return 0;
  fault_fired_ = true;
  return -error_;
}

int64_t FaultyFileSystem::Uneven(size_t size) {
  if (random_ == 0) return static_cast<int64_t>(size);
  // Knuth's linear congruential generator.
  random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
  const uint64_t draw = random_ >> 33;
  if (draw % 4 == 0) return -EINTR;
  return static_cast<int64_t>(1 + draw % std::max<size_t>(size, 1));
}

int64_t FaultyFileSystem::Write(int file, const void* data, size_t size) {
  if (const int fault = Fault()) return fault;
  const int64_t part = Uneven(size);
  if (part < 0) return part;
  return FileSystemWrapper::Write(file, data,
                                  std::min(size, static_cast<size_t>(part)));
}

int64_t FaultyFileSystem::ReadAt(int file, void* to, size_t size,
                                 uint64_t offset) {
  if (const int fault = Fault()) return fault;
  const int64_t part = Uneven(size);
  if (part < 0) return part;
  return FileSystemWrapper::ReadAt(
      file, to, std::min(size, static_cast<size_t>(part)), offset);
}

// Always closes: the descriptor belongs to the test process.
int FaultyFileSystem::Close(int file) {
  const int fault = Fault();
  const int closed = FileSystemWrapper::Close(file);
  return fault != 0 ? fault : closed;
}

void FaultyFileSystem::KillPoint(std::string_view name) {
  if (points_left_ > 0 && name == stop_point_ && --points_left_ == 0) {
    stopped_ = fault_fired_ = true;
  }
}

int FaultyFileSystem::Open(const std::string& path, int flags) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Open(path, flags);
}

int FaultyFileSystem::Allocate(int file, uint64_t size) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Allocate(file, size);
}

int FaultyFileSystem::Truncate(int file, uint64_t size) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Truncate(file, size);
}

int FaultyFileSystem::Sync(int file) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Sync(file);
}

int FaultyFileSystem::Lock(int file) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Lock(file);
}

int FaultyFileSystem::StatOpen(int file, FileInfo& info) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::StatOpen(file, info);
}

int FaultyFileSystem::Stat(const std::string& path, FileInfo& info) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Stat(path, info);
}

int FaultyFileSystem::List(const std::string& path,
                           std::vector<std::string>& names) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::List(path, names);
}

int FaultyFileSystem::FreeBytes(const std::string& path, uint64_t& bytes) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::FreeBytes(path, bytes);
}

int FaultyFileSystem::MakeFolder(const std::string& path) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::MakeFolder(path);
}

int FaultyFileSystem::RemoveFile(const std::string& path) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::RemoveFile(path);
}

int FaultyFileSystem::RemoveFolder(const std::string& path) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::RemoveFolder(path);
}

int FaultyFileSystem::Rename(const std::string& from, const std::string& to) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Rename(from, to);
}

int FaultyFileSystem::RenameNew(const std::string& from,
                                const std::string& to) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::RenameNew(from, to);
}

int FaultyFileSystem::Exchange(const std::string& one,
                               const std::string& other) {
  const int fault = Fault();
  return fault != 0 ? fault : FileSystemWrapper::Exchange(one, other);
}

}  // namespace trainyard

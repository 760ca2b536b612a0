// SharedSegment is memory that several processes of one machine map. It has no
// name in the file system: when the last process that maps it ends, by whatever
// cause, it is gone.
//
//   const auto mine = SharedSegment::Create(1 << 20);
//   // In another process, with the text of mine->address():
//   const auto same = SharedSegment::Open(address, 1 << 20);
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_SHARED_SEGMENT_H_
#define TRAINYARD_BACKENDS_PROCESSES_SHARED_SEGMENT_H_

#include <cstddef>
#include <memory>
#include <string>

namespace trainyard {

class SharedSegment {
 public:
  // The start of data() is aligned to a page. The memory is zero; a page takes
  // up memory when it is first written. Throws std::system_error.
  static std::shared_ptr<SharedSegment> Create(size_t bytes);

  // Maps a segment of a process that still has its file open. Throws
  // std::system_error if this process may not, std::invalid_argument if the
  // address leads to something else.
  static std::shared_ptr<SharedSegment> Open(const std::string& address,
                                             size_t bytes);

  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  // Where other processes open it. Empty in a process that opened it.
  const std::string& address() const { return address_; }
  // After it no process can open it any more. The mapping stays.
  void CloseFile();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  SharedSegment() = default;
  void Map(size_t bytes);

  int fd_ = -1;
  std::string address_;
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_SHARED_SEGMENT_H_

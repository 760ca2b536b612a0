#include "backends/processes/shared_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <system_error>

namespace trainyard {
namespace {

// Before data(): a page with the key, which tells whether an address leads to
// the segment that was meant.
constexpr size_t kHeader = 4096;
constexpr size_t kKeyLength = 32;

[[noreturn]] void ThrowErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(),
                          "SharedSegment: " + what);
}

std::string RandomKey() {
  std::random_device random;
  std::string key;
  while (key.size() < kKeyLength) {
    key += static_cast<char>('a' + random() % 26);
  }
  return key;
}

}  // namespace

void SharedSegment::Map(size_t bytes) {
  mapped_ = kHeader + bytes;
  void* const mapping =
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapping == MAP_FAILED) ThrowErrno("cannot map");
  mapping_ = mapping;
  data_ = static_cast<std::byte*>(mapping) + kHeader;
  size_ = bytes;
}

std::shared_ptr<SharedSegment> SharedSegment::Create(size_t bytes) {
  std::shared_ptr<SharedSegment> segment(new SharedSegment);
  segment->fd_ = memfd_create("trainyard", MFD_CLOEXEC);
  if (segment->fd_ < 0) ThrowErrno("cannot create");
  if (ftruncate(segment->fd_, static_cast<off_t>(kHeader + bytes)) != 0) {
    ThrowErrno("cannot set the size to " + std::to_string(bytes) + " bytes");
  }
  segment->Map(bytes);
  const std::string key = RandomKey();
  std::memcpy(segment->mapping_, key.data(), key.size());
  segment->address_ = key + " /proc/" + std::to_string(getpid()) + "/fd/" +
                      std::to_string(segment->fd_);
  return segment;
}

std::shared_ptr<SharedSegment> SharedSegment::Open(const std::string& address,
                                                   size_t bytes) {
  if (address.size() <= kKeyLength + 1 || address[kKeyLength] != ' ') {
    throw std::invalid_argument("SharedSegment: \"" + address +
                                "\" is not the address of a segment");
  }
  std::shared_ptr<SharedSegment> segment(new SharedSegment);
  const std::string path = address.substr(kKeyLength + 1);
  segment->fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (segment->fd_ < 0) ThrowErrno("cannot open " + path);
  const off_t size = lseek(segment->fd_, 0, SEEK_END);
  if (size != static_cast<off_t>(kHeader + bytes)) {
    throw std::invalid_argument("SharedSegment: " + path + " has " +
                                std::to_string(size) + " bytes, not " +
                                std::to_string(kHeader + bytes));
  }
  segment->Map(bytes);
  segment->CloseFile();
  if (std::memcmp(segment->mapping_, address.data(), kKeyLength) != 0) {
    throw std::invalid_argument("SharedSegment: " + path +
                                " is another segment");
  }
  return segment;
}

void SharedSegment::CloseFile() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  address_.clear();
}

SharedSegment::~SharedSegment() {
  CloseFile();
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace trainyard

#include "backends/testing/standin/protected_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace trainyard::standin {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kReserved = size_t{1} << 38;
// Of one size. A stale pointer faults until so many others were freed.
constexpr size_t kQuarantine = 64;

int ProtectionOf(int open, HostAccess access) {
  if (open > 0 || access == HostAccess::kAll) return PROT_READ | PROT_WRITE;
  return access == HostAccess::kRead ? PROT_READ : PROT_NONE;
}

}  // namespace

ProtectedMemory::ProtectedMemory() {
  void* const start = mmap(nullptr, kReserved, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    throw std::runtime_error("ProtectedMemory: there are no free addresses");
  }
  begin_ = next_ = reinterpret_cast<uintptr_t>(start);
}

ProtectedMemory::~ProtectedMemory() {
  munmap(reinterpret_cast<void*>(begin_), kReserved);
}

void ProtectedMemory::Protect(void* start, const Block& block) {
  if (mprotect(start, block.pages, ProtectionOf(block.open, block.access)) !=
      0) {
    throw std::runtime_error(std::string("ProtectedMemory: mprotect failed: ") +
                             std::strerror(errno));
  }
}

void* ProtectedMemory::Allocate(size_t bytes, HostAccess access) {
  Block block = {.bytes = bytes,
                 .pages = std::max(kPage, (bytes + kPage - 1) / kPage * kPage),
                 .open = 1,
                 .access = access,
                 .allocation = ++allocations_};
  uintptr_t start = 0;
  std::deque<uintptr_t>& freed = freed_[block.pages];
  if (freed.size() > kQuarantine) {
    start = freed.front();
    freed.pop_front();
  } else {
    start = next_;
    next_ += block.pages + kPage;
    if (next_ > begin_ + kReserved) {
      throw std::runtime_error("ProtectedMemory: all addresses are used");
    }
  }
  void* const pointer = reinterpret_cast<void*>(start);
  Protect(pointer, block);
  std::memset(pointer, 0xFF, bytes);
  block.open = 0;
  Protect(pointer, block);
  blocks_[start] = block;
  bytes_in_use_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_in_use_);
  return pointer;
}

void ProtectedMemory::Free(void* pointer) {
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == blocks_.end()) return;
  Block& block = it->second;
  block.open = 0;
  block.access = HostAccess::kNone;
  Protect(pointer, block);
  madvise(pointer, block.pages, MADV_DONTNEED);
  bytes_in_use_ -= block.bytes;
  freed_[block.pages].push_back(it->first);
  blocks_.erase(it);
}

void ProtectedMemory::Open(void* pointer) {
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it != blocks_.end() && ++it->second.open == 1) {
    Protect(pointer, it->second);
  }
}

void ProtectedMemory::Close(void* pointer) {
  // It may have been freed meanwhile.
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it != blocks_.end() && --it->second.open == 0) {
    Protect(pointer, it->second);
  }
}

void ProtectedMemory::SetHostAccess(void* pointer, HostAccess access) {
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == blocks_.end() || it->second.access == access) return;
  it->second.access = access;
  Protect(pointer, it->second);
}

bool ProtectedMemory::Contains(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return begin_ <= at && at < begin_ + kReserved;
}

void* ProtectedMemory::Find(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto it = blocks_.upper_bound(at);
  if (it == blocks_.begin()) return nullptr;
  --it;
  return at < it->first + it->second.pages ? reinterpret_cast<void*>(it->first)
                                           : nullptr;
}

int64_t ProtectedMemory::AllocationOf(const void* block) const {
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(block));
  return it == blocks_.end() ? 0 : it->second.allocation;
}

size_t ProtectedMemory::SizeOf(const void* block) const {
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(block));
  return it == blocks_.end() ? 0 : it->second.bytes;
}

}  // namespace trainyard::standin

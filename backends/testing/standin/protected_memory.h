// ProtectedMemory allocates blocks whose pages nobody may touch unless they are
// open. A block starts on a page of its own and is followed by a page that
// stays closed. New blocks are filled with 0xFF bytes, which are NaN as
// numbers; freed blocks are closed and reused late.
//
//   ProtectedMemory memory;
//   void* const block = memory.Allocate(64);
//   memory.Open(block);
//   std::memset(block, 0, 64);
//   memory.Close(block);
//   memory.Free(block);
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_PROTECTED_MEMORY_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_PROTECTED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace trainyard::standin {

// What the host may do with a block while no kernel has it open.
enum class HostAccess { kNone, kRead, kAll };

class ProtectedMemory {
 public:
  // Reserves addresses, no memory.
  ProtectedMemory();
  ~ProtectedMemory();
  ProtectedMemory(const ProtectedMemory&) = delete;
  ProtectedMemory& operator=(const ProtectedMemory&) = delete;

  void* Allocate(size_t bytes, HostAccess access = HostAccess::kNone);
  void Free(void* block);

  // A block may be opened several times; it closes with the last Close.
  void Open(void* block);
  void Close(void* block);
  // What holds while the block is not open.
  void SetHostAccess(void* block, HostAccess access);

  // Whether the address is in this memory, of a block or not. May be called in
  // a signal handler.
  bool Contains(const void* address) const;
  // Returns the start of the block that the address is in; null if it is in
  // none.
  void* Find(const void* address) const;
  // Which allocation the block is of, counted from 1; 0 if it was freed.
  int64_t AllocationOf(const void* block) const;
  // 0 if it was freed.
  size_t SizeOf(const void* block) const;

  size_t bytes_in_use() const { return bytes_in_use_; }
  size_t peak_bytes() const { return peak_bytes_; }
  void ResetPeak() { peak_bytes_ = bytes_in_use_; }

 private:
  struct Block {
    size_t bytes = 0;
    size_t pages = 0;  // in bytes, without the closed page
    int open = 0;
    HostAccess access = HostAccess::kNone;
    int64_t allocation = 0;
  };
  void Protect(void* start, const Block& block);

  uintptr_t begin_;
  uintptr_t next_;
  std::map<uintptr_t, Block> blocks_;
  // Freed blocks by size, the oldest first.
  std::map<size_t, std::deque<uintptr_t>> freed_;
  size_t bytes_in_use_ = 0;
  size_t peak_bytes_ = 0;
  int64_t allocations_ = 0;
};

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_PROTECTED_MEMORY_H_

// SharedExchange gives the bytes of every rank to every rank of one machine,
// through shared memory. An exchange has two parts: Post writes and does not
// wait for the others, Complete waits for them.
//
//   const uint32_t number = exchange.Post(/*tag=*/7, &mine, sizeof(mine));
//   …
//   exchange.Complete(number, [&](const SharedExchange::Parts& parts) {
//     Read(parts[1].data, parts[1].bytes);  // of rank 1
//   });
//
// All ranks must post the same tags in the same order; a tag that differs is a
// std::runtime_error. Exchanges are completed in the order in which they were
// posted, at most kOpen of them may be incomplete.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_SHARED_EXCHANGE_H_
#define TRAINYARD_BACKENDS_PROCESSES_SHARED_EXCHANGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backends/processes/shared_ranks.h"
#include "backends/processes/shared_segment.h"

namespace trainyard {

class SharedExchange {
 public:
  struct Part {
    const std::byte* data = nullptr;
    size_t bytes = 0;
  };
  using Parts = std::vector<Part>;

  static constexpr uint32_t kOpen = 4;
  // A post of at most this size needs no area.
  static constexpr size_t kSmall = 192;

  // The bytes that it needs of a segment. `area`: the largest post.
  static size_t BytesFor(int64_t size, size_t area);

  SharedExchange(std::shared_ptr<SharedSegment> segment, size_t area,
                 const SharedRanksOptions& options);

  SharedRanks& ranks() { return ranks_; }
  // The largest post.
  size_t area() const { return area_; }

  // Writes this rank's part. Returns the exchange's number. REQUIRES:
  // bytes <= area(), and less than kOpen incomplete exchanges, of them at most
  // one larger than kSmall.
  uint32_t Post(uint64_t tag, const void* data, size_t bytes);
  // The same with bytes that `write` writes to where others read them.
  uint32_t Post(uint64_t tag, size_t bytes,
                const std::function<void(std::byte*)>& write);

  // Waits for the parts of all ranks. They are valid while `read` runs.
  // REQUIRES: the oldest incomplete exchange.
  void Complete(uint32_t number, const std::function<void(const Parts&)>& read);

 private:
  struct Slot;
  struct Board;
  Board& At(int64_t rank) const;
  std::byte* Area(int64_t rank, uint64_t index) const;
  void WaitUntilAllCompleted(uint32_t number);

  const std::shared_ptr<SharedSegment> segment_;
  const size_t area_;
  SharedRanks ranks_;
  uint32_t posted_ = 0;
  // The number of large posts, and the exchanges that used each area last.
  uint64_t large_ = 0;
  std::array<uint32_t, 2> last_in_area_ = {0, 0};
  Parts parts_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_SHARED_EXCHANGE_H_

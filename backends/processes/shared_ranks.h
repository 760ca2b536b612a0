// SharedRanks lets ranks on one machine wait for each other by counters in
// shared memory: briefly in a loop, then asleep. A rank that has ended is
// named at once, one that hangs after the timeout.
//
//   SharedRanks ranks(segment, {.rank = 0, .size = 2});
//   ranks.Watch();  // waits for the other ranks
//   ranks.Publish(own_counter, 1);
//   ranks.Wait(their_counter, 1, /*rank=*/1);
//
// Wait throws std::runtime_error with the rank. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_SHARED_RANKS_H_
#define TRAINYARD_BACKENDS_PROCESSES_SHARED_RANKS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/processes/shared_segment.h"

namespace trainyard {

// A counter in shared memory, alone in its cache line.
struct alignas(64) SharedCounter {
  std::atomic<uint32_t> value;
};

struct SharedRanksOptions {
  int64_t rank = 0;
  int64_t size = 1;
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
};

class SharedRanks {
 public:
  // The bytes that it needs of a segment, from its start.
  static size_t BytesFor(int64_t size);

  SharedRanks(std::shared_ptr<SharedSegment> segment,
              const SharedRanksOptions& options);
  // Tells the other ranks that this one has left.
  ~SharedRanks();
  SharedRanks(const SharedRanks&) = delete;
  SharedRanks& operator=(const SharedRanks&) = delete;

  int64_t rank() const { return options_.rank; }
  int64_t size() const { return options_.size; }

  // Waits until all ranks have constructed theirs, and watches their processes
  // from now on. Throws std::runtime_error with a rank that does not come
  // within the timeout.
  void Watch();

  // Sets a counter that only this rank sets. What it wrote before is seen by
  // the ranks that see the new value.
  void Publish(SharedCounter& counter, uint32_t value);

  // Whether the counter has reached the value. Counters may wrap around.
  static bool Reached(const SharedCounter& counter, uint32_t value) {
    return static_cast<int32_t>(counter.value.load(std::memory_order_acquire) -
                                value) >= 0;
  }

  // Returns once the counter, which `rank` sets, has reached the value. Throws
  // std::runtime_error if the rank has ended, or does not reach it within the
  // timeout.
  void Wait(const SharedCounter& counter, uint32_t value, int64_t rank);

 private:
  struct Member;
  Member& At(int64_t rank) const;
  // Throws if the rank has ended.
  void CheckAlive(int64_t rank) const;
  [[noreturn]] void ThrowTimeout(int64_t rank) const;
  // Whether the counter was reached while spinning.
  bool Spin(const SharedCounter& counter, uint32_t value) const;

  const std::shared_ptr<SharedSegment> segment_;
  const SharedRanksOptions options_;
  // Whether each rank has a core, so that waiting in a loop takes it from none.
  const bool cores_for_all_;
  // A descriptor of each process; -1: none.
  std::vector<int> processes_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_SHARED_RANKS_H_

// SliceExchange exchanges buffers of chunks between the ranks: a sum of which
// every rank gets its chunk (reduce-scatter), and the chunks of all ranks
// (all-gather). See chunk_layout.h for a buffer.
//
//   SliceExchange exchange(group);
//   std::unique_ptr<SliceExchange::Pending> sum = exchange.StartSum(buffer);
//   const at::Tensor mine = sum->Wait();
//
// All ranks must start the same exchanges in the same order. They run in the
// background, in the order in which they were started. Ranks are added up in
// the order of their numbers. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_SLICE_EXCHANGE_H_
#define TRAINYARD_BACKENDS_SHARDED_SLICE_EXCHANGE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backends/processes/process_group.h"

namespace trainyard {

class SliceExchange {
 public:
  // An exchange that was started.
  class Pending {
   public:
    virtual ~Pending() = default;
    // Waits until the exchange is done and returns the result.
    virtual at::Tensor Wait() = 0;
  };

  // Borrows the group.
  explicit SliceExchange(ProcessGroup& group) : group_(group) {}

  int64_t rank() const { return group_.rendezvous().rank; }
  int64_t ranks() const { return group_.rendezvous().world_size; }

  // Adds up the buffers of all ranks. The result is this rank's row of the sum.
  // The buffer may be written to again once the exchange is done.
  std::unique_ptr<Pending> StartSum(const at::Tensor& buffer);

  // Fills the rows of the other ranks in `buffer` with what they have in their
  // own. The result is the buffer.
  std::unique_ptr<Pending> StartGather(const at::Tensor& buffer);

  // ---- The same without a buffer of one's own, for ranks that share memory.

  // Whether chunks of this many elements can be exchanged so.
  bool InPlace(int64_t chunk, const at::TensorOptions& options) const;

  // `fill` writes to the buffer that the others read.
  std::unique_ptr<Pending> StartSum(
      int64_t chunk, const at::TensorOptions& options,
      const std::function<void(at::Tensor&)>& fill);

  // `put` writes this rank's row; `read` gets the rows of all ranks, in their
  // order, which are there while it runs.
  void Gather(int64_t chunk, const at::TensorOptions& options,
              const std::function<void(at::Tensor&)>& put,
              const std::function<void(const std::vector<at::Tensor>&)>& read);

 private:
  ProcessGroup& group_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_SLICE_EXCHANGE_H_

// Collectives is how the processes that train together exchange tensors.
//
//   at::Tensor hits = …;                        // of this process
//   collectives.AllReduce(hits, ReduceOp::kSum);  // of all of them
//
// Every method is collective: all ranks must call the same ones in the same
// order. A call that does not fit those of the other ranks throws
// c10::ValueError on all of them, telling for each rank what it called and
// where. If a rank does not come, the others throw c10::DistError naming it, at
// the latest when the timeout is over.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_COLLECTIVES_H_
#define TRAINYARD_BACKENDS_COLLECTIVES_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace trainyard {

enum class ReduceOp { kSum, kMean, kMin, kMax };

class Collectives {
 public:
  // Where a call stands, for messages.
  using Place = std::source_location;

  virtual ~Collectives() = default;

  // This process among those that train together, and among those of them on
  // this machine.
  virtual int64_t rank() const = 0;
  virtual int64_t local_rank() const = 0;
  virtual int64_t num_processes() const = 0;

  // In place. REQUIRES: the same shape and type on all ranks.
  virtual void AllReduce(at::Tensor& tensor, ReduceOp op,
                         Place place = Place::current()) = 0;

  // Copies rank `from`'s tensor into the others'. REQUIRES: the same shape and
  // type on all ranks.
  virtual void Broadcast(at::Tensor& tensor, int64_t from = 0,
                         Place place = Place::current()) = 0;

  // Every rank's tensor, by rank, on this tensor's device. The number of rows
  // may differ. REQUIRES: else the same shape and type on all ranks.
  virtual std::vector<at::Tensor> AllGather(const at::Tensor& tensor,
                                            Place place = Place::current()) = 0;

  // Returns once all ranks have called it.
  virtual void Barrier(Place place = Place::current()) = 0;

  // Whether any rank says so. The cheapest of all.
  virtual bool Any(bool here, Place place = Place::current()) = 0;

  // The same ranks once more, for another thread: what it calls there and what
  // is called here do not wait for each other. This object must outlive it.
  virtual std::unique_ptr<Collectives> ForAnotherThread() = 0;

  // Not collective: tells the others why this process is about to end, so that
  // their errors give the reason.
  virtual void Abandon(const std::string& reason) = 0;
};

// Those of one process alone.
std::unique_ptr<Collectives> MakeLocalCollectives();

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_COLLECTIVES_H_

// Collectives exchanges tensors between the ranks that train together.
//
//   at::Tensor hits = at::full({}, own_hits);
//   collectives.AllReduce(hits, ReduceOp::kSum);  // the hits of all ranks
//
// Every method that says nothing else is collective: all ranks must call the
// same methods in the same order. If the calls of the ranks do not match, all
// ranks throw c10::ValueError with each rank's call and its place in the code.
// If a rank does not call at all, the others throw c10::DistError with its
// number, at the latest after the timeout.
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

// A few numbers that a rank tells the others while it does something else.
struct RankNote {
  int64_t flags = 0;
  double seconds = 0;
};

class Collectives {
 public:
  // Where in the code a call is, for error messages.
  using Place = std::source_location;

  virtual ~Collectives() = default;

  // The number of this process among all, and among those on this machine.
  // Not collective.
  virtual int64_t rank() const = 0;
  virtual int64_t local_rank() const = 0;
  virtual int64_t num_processes() const = 0;

  // Reduces in place. REQUIRES: the same shape and type on all ranks.
  virtual void AllReduce(at::Tensor& tensor, ReduceOp op,
                         Place place = Place::current()) = 0;

  // Copies the tensor of rank `from` into the tensors of the other ranks.
  // REQUIRES: the same shape and type on all ranks.
  virtual void Broadcast(at::Tensor& tensor, int64_t from = 0,
                         Place place = Place::current()) = 0;

  // Returns the tensors of all ranks in rank order, on the device of `tensor`.
  // REQUIRES: the same type and shape on all ranks, except the number of rows.
  virtual std::vector<at::Tensor> AllGather(const at::Tensor& tensor,
                                            Place place = Place::current()) = 0;

  // Returns once all ranks have called it.
  virtual void Barrier(Place place = Place::current()) = 0;

  // Returns whether any rank passes true. The cheapest of these calls.
  virtual bool Any(bool here, Place place = Place::current()) = 0;

  // Sends a note to all ranks and does not wait for theirs: they arrive while
  // this rank works. One note at a time.
  virtual void PostNote(const RankNote& note,
                        Place place = Place::current()) = 0;
  // Waits for the notes that the other ranks posted together with this rank's
  // last one, and returns all in rank order. REQUIRES: PostNote was called.
  virtual std::vector<RankNote> ReadNotes() = 0;

  // Creates a second communicator over the same ranks, for use from another
  // thread; the two never block each other. This object must outlive it.
  virtual std::unique_ptr<Collectives> ForAnotherThread() = 0;

  // Tells the other ranks why this process is about to end: their errors
  // contain the reason. Not collective.
  virtual void Abandon(const std::string& reason) = 0;

  // Where this rank writes its last calls if one of them fails, for
  // tools/inspect:hang. Not collective.
  virtual void SetRecordFolder(const std::string& folder) {
    static_cast<void>(folder);
  }
};

// Collectives of a single process: each call returns its own tensor.
std::unique_ptr<Collectives> MakeLocalCollectives();

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_COLLECTIVES_H_

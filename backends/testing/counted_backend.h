// CountedBackend counts the calls of a backend's collectives that wait for the
// other ranks, and those that do not. For tests.
//
//   CountedBackend backend(MakeDdp());
//   const StepCosts costs =
//       MeasureSteps(backend, "ddp", {.counting = &backend.counting()});
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_COUNTED_BACKEND_H_
#define TRAINYARD_BACKENDS_TESTING_COUNTED_BACKEND_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend_decorator.h"
#include "backends/collectives.h"

namespace trainyard {

// Counts the calls that wait for the other ranks.
class CountingCollectives final : public Collectives {
 public:
  explicit CountingCollectives(Collectives& all) : all_(all) {}

  int64_t rank() const override { return all_.rank(); }
  int64_t local_rank() const override { return all_.local_rank(); }
  int64_t num_processes() const override { return all_.num_processes(); }
  void AllReduce(at::Tensor& tensor, ReduceOp op, Place place) override {
    ++waits;
    all_.AllReduce(tensor, op, place);
  }
  void Broadcast(at::Tensor& tensor, int64_t from, Place place) override {
    ++waits;
    all_.Broadcast(tensor, from, place);
  }
  std::vector<at::Tensor> AllGather(const at::Tensor& tensor,
                                    Place place) override {
    ++waits;
    return all_.AllGather(tensor, place);
  }
  void Barrier(Place place) override {
    ++waits;
    all_.Barrier(place);
  }
  bool Any(bool here, Place place) override {
    ++waits;
    return all_.Any(here, place);
  }
  void PostNote(const RankNote& note, Place place) override {
    ++notes;
    all_.PostNote(note, place);
  }
  std::vector<RankNote> ReadNotes() override { return all_.ReadNotes(); }
  std::unique_ptr<Collectives> ForAnotherThread() override {
    return all_.ForAnotherThread();
  }
  void Abandon(const std::string& reason) override { all_.Abandon(reason); }

  // Calls that wait for the other ranks.
  int waits = 0;
  // Notes that were sent, which does not wait.
  int notes = 0;

 private:
  Collectives& all_;
};

class CountedBackend final : public BackendDecorator {
 public:
  explicit CountedBackend(std::unique_ptr<Backend> backend)
      : BackendDecorator(std::move(backend)),
        counting_(BackendDecorator::collectives()) {}
  Collectives& collectives() const override { return counting_; }
  CountingCollectives& counting() { return counting_; }

 private:
  mutable CountingCollectives counting_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_COUNTED_BACKEND_H_

// OutputCollector concatenates the outputs of many steps along their first
// dimension, like PyMarlin's output collector.
//
//   OutputCollector outputs;
//   outputs.Collect({logits, labels});  // at every step
//   const std::vector<at::Tensor> all = outputs.All();
//   const std::vector<at::Tensor> of_ranks = outputs.AllOf(collectives);
//
// Outputs are detached and copied to the CPU at once, so that the device need
// not hold them. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_OUTPUT_COLLECTOR_H_
#define TRAINYARD_BACKENDS_OUTPUT_COLLECTOR_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "backends/collectives.h"

namespace trainyard {

class OutputCollector {
 public:
  // A scalar counts as a row. REQUIRES: as many tensors as in earlier calls.
  void Collect(const std::vector<at::Tensor>& outputs);
  void Collect(const at::Tensor& output) {
    Collect(std::vector<at::Tensor>{output});
  }

  // Returns one tensor for each position in the lists, with the rows of all
  // steps in order. Empty if nothing was collected.
  std::vector<at::Tensor> All() const;

  // Returns the same with the rows of all ranks, on all ranks, in the order of
  // the data: step by step, and of each step in rank order, as
  // trainer/data/partition.h divides the records. Ranks may have different
  // numbers of rows and steps. Throws c10::ValueError on all ranks if their
  // outputs differ in number, type or shape of a row. Collective.
  std::vector<at::Tensor> AllOf(
      Collectives& collectives,
      Collectives::Place place = Collectives::Place::current()) const;

  void Reset() { parts_.clear(); }

 private:
  std::vector<std::vector<at::Tensor>> parts_;  // by position, then by step
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_OUTPUT_COLLECTOR_H_

// OutputCollector keeps the outputs of many steps and puts them together along
// their first dimension: PyMarlin's output collector.
//
//   OutputCollector outputs;
//   outputs.Collect({logits, labels});           // at every step
//   const std::vector<at::Tensor> all = outputs.All();
//
// Outputs are detached and copied to the CPU at once, so that a device need not
// hold them. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_OUTPUT_COLLECTOR_H_
#define TRAINYARD_BACKENDS_OUTPUT_COLLECTOR_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainyard {

class OutputCollector {
 public:
  // A scalar counts as a row. REQUIRES: as many tensors as before.
  void Collect(const std::vector<at::Tensor>& outputs);
  void Collect(const at::Tensor& output) {
    Collect(std::vector<at::Tensor>{output});
  }

  // One tensor for each place in the lists, with the rows of all steps in
  // order. Empty if nothing was collected.
  std::vector<at::Tensor> All() const;

  void Reset() { parts_.clear(); }

 private:
  std::vector<std::vector<at::Tensor>> parts_;  // by place, then by step
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_OUTPUT_COLLECTOR_H_

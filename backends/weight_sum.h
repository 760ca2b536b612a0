// WeightSum averages a number over all ranks in the background.
//
//   weights.Start(96);
//   loss.backward();
//   const double mean = weights.Mean();
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_WEIGHT_SUM_H_
#define TRAINYARD_BACKENDS_WEIGHT_SUM_H_

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <vector>

#include "backends/processes/process_group.h"

namespace c10d {
class Work;
}  // namespace c10d

namespace trainyard {

class WeightSum {
 public:
  // Borrows the group.
  explicit WeightSum(ProcessGroup& group);
  ~WeightSum();
  WeightSum(const WeightSum&) = delete;
  WeightSum& operator=(const WeightSum&) = delete;

  // Starts the exchange of this rank's weight. Collective.
  void Start(double weight);

  // Returns the mean of the weights of the last Start; 1 before the first one.
  double Mean();

 private:
  ProcessGroup& group_;
  // On the host, also when training on CUDA: reading it must not wait for the
  // device.
  std::vector<at::Tensor> sum_;
  c10::intrusive_ptr<c10d::Work> work_;
  double mean_ = 1;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_WEIGHT_SUM_H_

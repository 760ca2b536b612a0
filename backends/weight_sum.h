// WeightSum adds up a number over all processes while they do something else.
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

  // Collective: all ranks must call it.
  void Start(double weight);

  // The mean of what all processes started with last. 1 if they never did.
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

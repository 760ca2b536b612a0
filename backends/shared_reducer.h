// SharedReducer averages the gradients of parameters over ranks of one machine,
// in shared memory, while a backward pass computes them. The parameters are in
// buckets; a rank posts a bucket as soon as its gradients are computed, in any
// order, and adds up its share of those that all ranks have posted.
//
//   const auto reducer = MakeSharedReducer(group, parameters, names, 4 << 20);
//   reducer->BeforeBackward();
//   loss.backward();
//   reducer->AfterBackward();  // every gradient is the mean over the ranks
//
// Ranks are added up in the order of their numbers: gradients are equal to the
// bit on all ranks, however the parameters are split into buckets. Afterwards
// the gradients are in the shared memory, each rank's in its own part.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARED_REDUCER_H_
#define TRAINYARD_BACKENDS_SHARED_REDUCER_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/processes/process_group.h"

namespace trainyard {

class SharedReducer {
 public:
  virtual ~SharedReducer() = default;

  // Called before and after the backward pass that exchanges gradients.
  // AfterBackward throws c10::ValueError with the names of parameters that the
  // pass gave no gradient. Collective.
  virtual void BeforeBackward() = 0;
  virtual void AfterBackward() = 0;
};

// Returns null if the ranks share no memory or the parameters are not all of
// the same type, float or double, on the CPU. Borrows the group. REQUIRES: the
// same parameters on all ranks. Collective.
std::unique_ptr<SharedReducer> MakeSharedReducer(
    ProcessGroup& group, const std::vector<at::Tensor>& parameters,
    const std::vector<std::string>& names, size_t bucket_bytes);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARED_REDUCER_H_

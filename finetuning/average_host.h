// Moves an average of floats on the host towards a model's values. It reads and
// writes two places of a tensor in turn, since one stream of each does not keep
// the memory busy; a small tensor costs no calls.
//
//   if (CanMoveOnHost(average, model)) MoveOnHost(average, model, 0.001);
//
// The numbers are those of at::lerp_, but for the last bits of some.
// Thread-safe over different tensors.
#ifndef TRAINYARD_FINETUNING_AVERAGE_HOST_H_
#define TRAINYARD_FINETUNING_AVERAGE_HOST_H_

#include <ATen/core/Tensor.h>

namespace trainyard {

// Whether both are floats on a processor with AVX2 and FMA, in one dense
// layout.
bool CanMoveOnHost(const at::Tensor& average, const at::Tensor& model);

// average += weight * (model - average). REQUIRES: the above, 0 <= weight <= 1.
void MoveOnHost(const at::Tensor& average, const at::Tensor& model,
                double weight);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_AVERAGE_HOST_H_

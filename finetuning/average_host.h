// MoveOnHost moves an average of floats on the CPU towards a model's values. It
// is faster than at::lerp_: it reads and writes two places of a large tensor in
// turn, because one stream does not saturate the memory, and it makes no
// dispatcher calls.
//
//   if (CanMoveOnHost(average, model)) MoveOnHost(average, model, weight);
//
// The result equals that of at::lerp_ up to rounding in the last bits.
// Thread-safe for different tensors.
#ifndef TRAINYARD_FINETUNING_AVERAGE_HOST_H_
#define TRAINYARD_FINETUNING_AVERAGE_HOST_H_

#include <ATen/core/Tensor.h>

namespace trainyard {

// Returns whether both tensors are dense float tensors on the CPU with equal
// strides, and the processor has AVX2 and FMA.
bool CanMoveOnHost(const at::Tensor& average, const at::Tensor& model);

// average += weight * (model - average). REQUIRES: CanMoveOnHost(average,
// model), 0 <= weight <= 1.
void MoveOnHost(const at::Tensor& average, const at::Tensor& model,
                double weight);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_AVERAGE_HOST_H_

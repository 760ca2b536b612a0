// HasNan looks for NaN in a tensor, in one pass over its memory and on the
// calling thread alone: it may run while others train.
//
//   if (HasNan(weight)) return absl::FailedPreconditionError(…);
//
// Thread-safe, as long as nobody writes to the tensor meanwhile.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_HAS_NAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_HAS_NAN_H_

#include <ATen/core/Tensor.h>

namespace trainyard {

// Infinities are not NaN: a mask may have them. False for types that have no
// NaN, and for those of 8 bits. REQUIRES: a contiguous tensor on the CPU.
bool HasNan(const at::Tensor& tensor);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_HAS_NAN_H_

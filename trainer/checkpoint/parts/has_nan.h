// HasNan and CheckNoNan look for NaN in a tensor, in one pass over its memory
// and on the calling thread only, so that they may run while others train.
//
//   if (HasNan(weight)) return absl::FailedPreconditionError("NaN");
//
// Thread-safe while nobody writes to the tensor.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PARTS_HAS_NAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PARTS_HAS_NAN_H_

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include <string>
#include <string_view>

#include "trainer/model/named_tensor.h"

namespace trainyard {

// The part of a checkpoint that may contain NaN: gradients in fp16 overflow now
// and then, and the gradient scaler drops them.
inline constexpr std::string_view kGradientsPart = "gradients";

// Infinities are not NaN: a mask may have them. Returns false for types without
// NaN and for types of 8 bits. REQUIRES: a contiguous tensor on the CPU.
bool HasNan(const at::Tensor& tensor);

// Returns FailedPrecondition, naming the tensor and its group, if it contains
// NaN. REQUIRES: as HasNan.
absl::Status CheckNoNan(const std::string& group, const NamedTensor& item);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PARTS_HAS_NAN_H_

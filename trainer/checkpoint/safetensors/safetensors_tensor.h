// Converts between libtorch tensors and the entries of safetensors files.
//
//   absl::StatusOr<SafetensorsEntry> entry = EntryOf({"w", weight});
//   absl::StatusOr<at::Tensor> bytes = HostBytes({"w", weight});
//   absl::StatusOr<at::Tensor> same_shape = EmptyTensor(*entry);
//
// Errors name the tensor. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_TENSOR_H_
#define TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_TENSOR_H_

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "trainer/checkpoint/safetensors/safetensors_layout.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

// Returns the name, type and shape of a tensor. Returns InvalidArgument if it
// is undefined, sparse, or of a type that the format lacks.
absl::StatusOr<SafetensorsEntry> EntryOf(const NamedTensor& item);

// Returns a tensor on the CPU whose memory is contiguous: that of the tensor
// itself if possible, otherwise a copy.
absl::StatusOr<at::Tensor> HostBytes(const NamedTensor& item);

// Returns an uninitialised tensor on the CPU for the bytes of an entry. Returns
// Unimplemented for types and shapes that libtorch lacks.
absl::StatusOr<at::Tensor> EmptyTensor(const SafetensorsEntry& entry);

// Returns DataLoss if the bytes are not valid values of the type: using a bool
// that is neither 0 nor 1 would be undefined behaviour.
absl::Status CheckValues(const SafetensorsEntry& entry,
                         const at::Tensor& tensor);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_TENSOR_H_

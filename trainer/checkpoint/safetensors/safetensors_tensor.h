// Tensors of libtorch as safetensors files describe and hold them.
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

// Its name, type and shape. InvalidArgument for a tensor that is undefined,
// sparse, or of a type that the format lacks.
absl::StatusOr<SafetensorsEntry> EntryOf(const NamedTensor& item);

// The tensor itself if it is on the host and row by row, otherwise a copy that
// is.
absl::StatusOr<at::Tensor> HostBytes(const NamedTensor& item);

// Room for the bytes of an entry, on the host. Unimplemented for what libtorch
// has not.
absl::StatusOr<at::Tensor> EmptyTensor(const SafetensorsEntry& entry);

// DataLoss for bytes that are no values of the type: a bool that is neither 0
// nor 1 is undefined behaviour to come.
absl::Status CheckValues(const SafetensorsEntry& entry,
                         const at::Tensor& tensor);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_SAFETENSORS_SAFETENSORS_TENSOR_H_

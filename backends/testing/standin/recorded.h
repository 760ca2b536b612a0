// Recorded returns an operator's argument as a graph keeps it. A tensor in
// memory of the device, or in page-locked memory, becomes one on the same
// memory that does not keep it: a graph uses addresses. A tensor in other
// memory of the host is copied: its values are fixed by the capture.
//
// Internal to the stand-in; see standin.h. Thread-safe.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_RECORDED_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_RECORDED_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <vector>

namespace trainyard::standin {

at::Tensor Recorded(const at::Tensor& tensor);
std::vector<at::Tensor> Recorded(const std::vector<at::Tensor>& tensors);
std::vector<c10::IValue> Recorded(const std::vector<c10::IValue>& values);

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_RECORDED_H_

// The kernels of the stand-in: every operator that has no kernel of its own
// runs the CPU's, on the same memory.
//
// Internal to the stand-in; see standin.h. Thread-safe.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_KERNELS_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_KERNELS_H_

#include <ATen/core/Tensor.h>

namespace trainyard::standin {

// Registers them with libtorch's dispatcher. Call it once.
void RegisterKernels();

// A tensor of the CPU on the memory of a tensor of the device; other tensors as
// they are. Touch it only inside of a Kernel that uses the tensor.
at::Tensor OnHost(const at::Tensor& tensor);

// A copy between host and device, or between devices. Asynchronous exactly when
// CUDA's is: with non_blocking, page-locked memory on the host, and the same
// type and contiguous memory on both sides.
at::Tensor CopyFrom(const at::Tensor& from, const at::Tensor& to,
                    bool non_blocking);

// The operators for copies, memory and views.
void RegisterMemoryKernels();
// Casts for mixed precision: the operators that CUDA casts.
void RegisterAutocast();

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_KERNELS_H_

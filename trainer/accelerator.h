// The accelerator of this process: what libtorch computes on besides the CPU.
//
//   const at::Device device = AcceleratorType()
//                                 ? at::Device(*AcceleratorType(), 0)
//                                 : at::Device(at::kCPU);
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_ACCELERATOR_H_
#define TRAINYARD_TRAINER_ACCELERATOR_H_

#include <c10/core/DeviceType.h>

#include <optional>

namespace trainyard {

// CUDA, or another type that the program registered with libtorch. Unset if
// there is no device of it.
std::optional<c10::DeviceType> AcceleratorType();

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_ACCELERATOR_H_

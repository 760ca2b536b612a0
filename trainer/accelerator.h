// The accelerator of this process: what libtorch computes on besides the CPU.
//
//   const at::Device device = DefaultDevice();
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_ACCELERATOR_H_
#define TRAINYARD_TRAINER_ACCELERATOR_H_

#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>

#include <cstdint>
#include <optional>

namespace trainyard {

// CUDA, or another type that the program registered with libtorch. Unset if
// there is no device of it.
std::optional<c10::DeviceType> AcceleratorType();

// The accelerator with this index, or the CPU if there is none.
c10::Device DefaultDevice(int64_t index = 0);

// Makes this the device of the calling thread's allocations that name its type
// but no index. Does nothing for the CPU.
void MakeCurrent(c10::Device device);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_ACCELERATOR_H_

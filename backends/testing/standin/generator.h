// The random number generators of the stand-in: one per device, each with a
// state of its own beside the CPU's.
//
// Internal to the stand-in; see standin.h. Lock the generator's mutex, as for
// any generator.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_GENERATOR_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_GENERATOR_H_

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

namespace trainyard::standin {

const at::Generator& DefaultGenerator(c10::DeviceIndex device);
at::Generator NewGenerator(c10::DeviceIndex device);
// The CPU's generator inside of a generator of the device, for CPU kernels;
// other generators as they are.
at::Generator HostGenerator(const at::Generator& generator);

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_GENERATOR_H_

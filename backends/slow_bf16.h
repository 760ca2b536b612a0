// SlowBf16Warning tells what to do where mixed precision in bfloat16 makes
// training slower: on a CPU without instructions for it, which then converts
// every number.
//
//   if (const auto warning = SlowBf16Warning(dtype_, device())) {
//
// Thread-safe.
#ifndef TRAINYARD_BACKENDS_SLOW_BF16_H_
#define TRAINYARD_BACKENDS_SLOW_BF16_H_

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace trainyard {

// Whether this processor multiplies in bfloat16. True where it is not known.
bool CpuHasBf16();

// Nothing where `dtype` is not slow on the device. `cpu_has_bf16` is what the
// processor says, or what a test wants.
std::optional<std::string> SlowBf16Warning(c10::ScalarType dtype,
                                           c10::Device device,
                                           bool cpu_has_bf16 = CpuHasBf16());

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SLOW_BF16_H_

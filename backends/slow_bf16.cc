#include "backends/slow_bf16.h"

namespace trainyard {

bool CpuHasBf16() {
#if defined(__x86_64__)
  // Processors with matrix units for bfloat16 (AMX) have these, too.
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return true;
#endif
}

std::optional<std::string> SlowBf16Warning(c10::ScalarType dtype,
                                           c10::Device device,
                                           bool cpu_has_bf16) {
  if (dtype != c10::kBFloat16 || !device.is_cpu() || cpu_has_bf16) return {};
  return "Amp: this CPU has no instructions for bfloat16: mixed precision is "
         "slower than full precision here, up to five times; use the backend "
         "without \"-amp\"";
}

}  // namespace trainyard

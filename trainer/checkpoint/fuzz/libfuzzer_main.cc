// For libFuzzer, which has the main.
#include <cstddef>
#include <cstdint>

#include "trainer/checkpoint/fuzz/fuzz_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainyard::FuzzOne({reinterpret_cast<const char*>(data), size});
  return 0;
}

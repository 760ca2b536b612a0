#include "trainer/accelerator.h"

#include <ATen/DeviceAccelerator.h>

namespace trainyard {

std::optional<c10::DeviceType> AcceleratorType() {
  const std::optional<c10::DeviceType> type =
      at::accelerator::getAccelerator(/*checked=*/false);
  return type && at::accelerator::deviceCount() > 0 ? type : std::nullopt;
}

}  // namespace trainyard

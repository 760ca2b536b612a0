#include "trainer/accelerator.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace trainyard {

std::optional<c10::DeviceType> AcceleratorType() {
  const std::optional<c10::DeviceType> type =
      at::accelerator::getAccelerator(/*checked=*/false);
  return type && at::accelerator::deviceCount() > 0 ? type : std::nullopt;
}

c10::Device DefaultDevice(int64_t index) {
  const std::optional<c10::DeviceType> type = AcceleratorType();
  return type ? c10::Device(*type, static_cast<c10::DeviceIndex>(index))
              : c10::Device(c10::kCPU);
}

void MakeCurrent(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
}

}  // namespace trainyard

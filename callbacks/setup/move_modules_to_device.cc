#include "callbacks/setup/move_modules_to_device.h"

#include <c10/util/Exception.h>

namespace trainyard {

MoveModulesToDevice::MoveModulesToDevice(
    at::Device device,
    const std::vector<std::shared_ptr<torch::nn::Module>>& modules)
    : device_(device) {
  for (const auto& module : modules) {
    TORCH_CHECK_VALUE(module != nullptr,
                      "MoveModulesToDevice: there is a null module");
    modules_.push_back(NnModel(module));
  }
}

void MoveModulesToDevice::Move() const {
  for (const auto& module : modules_) module->To(device_);
}

}  // namespace trainyard

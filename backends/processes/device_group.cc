#include "backends/processes/device_group.h"

#include <c10/util/Exception.h>

#include <map>
#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "backends/processes/nccl.h"

namespace trainyard {
namespace {

struct Makers {
  std::mutex mutex;
  std::map<c10::DeviceType, DeviceGroupMaker> by_type;
};

Makers& AllMakers() {
  static auto* const makers = new Makers{
      {}, {{c10::DeviceType::CUDA, [](const DeviceGroupOptions& options) {
              return MakeNccl(options.store, options.rendezvous,
                              options.timeout);
            }}}};
  return *makers;
}

DeviceGroupMaker FindMaker(c10::DeviceType type) {
  Makers& makers = AllMakers();
  const std::lock_guard lock(makers.mutex);
  const auto it = makers.by_type.find(type);
  return it == makers.by_type.end() ? nullptr : it->second;
}

}  // namespace

void RegisterDeviceGroup(c10::DeviceType type, DeviceGroupMaker make) {
  Makers& makers = AllMakers();
  const std::lock_guard lock(makers.mutex);
  makers.by_type[type] = std::move(make);
}

bool HasDeviceGroup(c10::DeviceType type) { return FindMaker(type) != nullptr; }

c10::intrusive_ptr<c10d::Backend> MakeDeviceGroup(
    const DeviceGroupOptions& options) {
  const DeviceGroupMaker make = FindMaker(options.device.type());
  TORCH_CHECK_VALUE(make != nullptr,
                    "there are no collectives for devices of "
                    "type ",
                    options.device.type());
  return make(options);
}

}  // namespace trainyard

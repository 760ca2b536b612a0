// Collectives between accelerators: NCCL on CUDA, and what a program registers
// for another type of device. ProcessGroup calls MakeDeviceGroup for a device
// that is not the CPU. Thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_DEVICE_GROUP_H_
#define TRAINYARD_BACKENDS_PROCESSES_DEVICE_GROUP_H_

#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <functional>

#include "backends/processes/rendezvous.h"

// Include c10d's own headers, which are large, to call their methods.
namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace trainyard {

struct DeviceGroupOptions {
  c10::intrusive_ptr<c10d::Store> store;
  Rendezvous rendezvous = {};
  // The device of this rank.
  at::Device device = at::kCPU;
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
};

using DeviceGroupMaker = std::function<c10::intrusive_ptr<c10d::Backend>(
    const DeviceGroupOptions& options)>;

// ProcessGroup calls `make` for devices of this type from now on.
void RegisterDeviceGroup(c10::DeviceType type, DeviceGroupMaker make);

// Whether there is one for this type of device.
bool HasDeviceGroup(c10::DeviceType type);

// Throws c10::NotImplementedError for CUDA in a build without NCCL.
// REQUIRES: HasDeviceGroup. Collective.
c10::intrusive_ptr<c10d::Backend> MakeDeviceGroup(
    const DeviceGroupOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_DEVICE_GROUP_H_

#include "backends/processes/process_group.h"

#include <c10/util/Exception.h>

#include <cstdio>
#include <exception>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>

#include "backends/processes/device_group.h"
#include "backends/processes/gloo.h"
#include "backends/processes/own_address.h"
#include "backends/processes/roll_call.h"
#include "backends/processes/store.h"

namespace trainyard {
namespace {

using C10dGroup = c10d::ProcessGroup;
using C10dBackend = c10::intrusive_ptr<c10d::Backend>;

c10::intrusive_ptr<C10dGroup> Group(
    const c10::intrusive_ptr<c10d::Store>& store, const Rendezvous& rendezvous,
    const C10dBackend& gloo, const C10dBackend& on_device = nullptr,
    c10::DeviceType type = c10::DeviceType::CPU) {
  auto group =
      c10::make_intrusive<C10dGroup>(store, static_cast<int>(rendezvous.rank),
                                     static_cast<int>(rendezvous.world_size));
  group->setBackend(c10::DeviceType::CPU, C10dGroup::BackendType::GLOO, gloo);
  if (on_device) {
    group->setBackend(type,
                      type == c10::DeviceType::CUDA
                          ? C10dGroup::BackendType::NCCL
                          : C10dGroup::BackendType::CUSTOM,
                      on_device);
  }
  return group;
}

}  // namespace

ProcessGroup::ProcessGroup(const ProcessGroupOptions& options,
                           c10::intrusive_ptr<c10d::Store> store)
    : options_(options), store_(std::move(store)) {
  const Rendezvous& all = options_.rendezvous;
  roll_call_ = std::make_unique<RollCall>(store_, all.rank, all.world_size);
}

ProcessGroup::ProcessGroup(const ProcessGroupOptions& options)
    : options_(options) {
  TORCH_CHECK_VALUE(options.timeout.count() > 0, "ProcessGroup: timeout is ",
                    options.timeout.count(), " ms");
  const at::Device device = options.device;
  TORCH_CHECK_VALUE(device.is_cpu() || HasDeviceGroup(device.type()),
                    "ProcessGroup: device is ", device,
                    "; there are groups on the CPU and on CUDA");
  const Rendezvous& all = options_.rendezvous;
  store_ = OpenStore(all, options_.timeout);
  roll_call_ = std::make_unique<RollCall>(store_, all.rank, all.world_size);
  const auto part = [&](const char* name) {
    return c10::make_intrusive<c10d::PrefixStore>(name, store_);
  };
  if (all.rank == 0 && !all.one_machine()) {
    std::fprintf(stderr, "%s\n",
                 DescribePlace(all, ChooseOwnAddress(all)).c_str());
  }
  Guard("connecting", [&] {
    const GlooOptions gloo = {all, options_.timeout};
    C10dBackend on_device;
    if (!device.is_cpu()) {
      on_device =
          MakeDeviceGroup({part("device"), all, device, options_.timeout});
    }
    training_ =
        Group(part("training"), all, MakeGloo(part("gloo/training"), gloo),
              on_device, device.type());
    side_ = Group(part("side"), all, MakeGloo(part("gloo/side"), gloo),
                  on_device, device.type());
  });
}

ProcessGroup::~ProcessGroup() = default;

std::unique_ptr<ProcessGroup> ProcessGroup::ForAnotherThread() {
  std::unique_ptr<ProcessGroup> other(new ProcessGroup(options_, store_));
  const Rendezvous& all = options_.rendezvous;
  const auto part = c10::make_intrusive<c10d::PrefixStore>(
      "thread/" + std::to_string(others_++), store_);
  Guard("connecting for another thread", [&] {
    other->side_ = Group(part, all, MakeGloo(part, {all, options_.timeout}));
  });
  return other;
}

void ProcessGroup::Abandon(const std::string& reason) {
  roll_call_->Abandon(reason);
}

void ProcessGroup::Guard(const char* what, c10::function_ref<void()> run) {
  std::string reason;
  try {
    run();
    return;
  } catch (const c10::DistError& e) {
    reason = e.what_without_backtrace();
  } catch (const c10::Error&) {
    throw;  // not of the network
  } catch (const std::exception& e) {
    reason = e.what();  // gloo's own
  }
  C10_THROW_ERROR(DistBackendError,
                  c10::str(what, " failed on rank ", options_.rendezvous.rank,
                           " of ", options_.rendezvous.world_size, ": ",
                           roll_call_->Describe(), " (", reason, ")"));
}

}  // namespace trainyard

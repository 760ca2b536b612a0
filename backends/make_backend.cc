#include "backends/make_backend.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include "backends/processes/process_group.h"
#include "backends/processes/rendezvous.h"
#include "backends/single_process.h"
#include "trainer/accelerator.h"

namespace trainyard {
namespace {

at::Device DeviceFor(const BackendOptions& options, int64_t local_rank) {
  return options.device ? *options.device : DefaultDevice(local_rank);
}

// Allocations that name no device must go to this one as well.
at::Device MakeCurrent(at::Device device) {
  if (!device.is_cpu()) {
    c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  }
  return device;
}

std::unique_ptr<Backend> MakeDdp(const BackendOptions& options) {
  const Rendezvous rendezvous =
      options.rendezvous ? *options.rendezvous : RendezvousFromEnvironment();
  const at::Device device =
      MakeCurrent(DeviceFor(options, rendezvous.local_rank));
  auto group = std::make_shared<ProcessGroup>(ProcessGroupOptions{
      .rendezvous = rendezvous, .device = device, .timeout = options.timeout});
  return MakeDdpBackend(std::move(group), MakeSingleProcessBackend(device),
                        options.ddp);
}

}  // namespace

std::unique_ptr<Backend> MakeBackend(const std::string& name,
                                     const BackendOptions& options) {
  const auto single = [&] {
    TORCH_CHECK_VALUE(
        LaunchedProcesses() == 1, "the backend \"", name,
        "\" is for one process, but a launcher started ", LaunchedProcesses(),
        ": each would train a model of its own; use \"ddp", name.substr(2),
        "\" to train one together, or MakeSingleProcessBackend if that is "
        "what you want");
    return MakeSingleProcessBackend(MakeCurrent(DeviceFor(options, 0)));
  };
  if (name == "sp") return single();
  if (name == "sp-amp") return MakeAmpBackend(single(), options.amp);
  if (name == "ddp") return MakeDdp(options);
  if (name == "ddp-amp") return MakeAmpBackend(MakeDdp(options), options.amp);
  C10_THROW_ERROR(ValueError, "there is no backend \"" + name +
                                  "\"; there are: sp, sp-amp, ddp, ddp-amp");
}

}  // namespace trainyard

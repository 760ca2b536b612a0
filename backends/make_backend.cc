#include "backends/make_backend.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <string_view>

#include "backends/processes/process_group.h"
#include "backends/processes/rendezvous.h"
#include "backends/sharded/fsdp.h"
#include "backends/sharded/zero.h"
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

// One of several processes.
std::unique_ptr<Backend> MakeRank(const BackendOptions& options,
                                  const std::string& name) {
  const Rendezvous rendezvous =
      options.rendezvous ? *options.rendezvous : RendezvousFromEnvironment();
  const at::Device device =
      MakeCurrent(DeviceFor(options, rendezvous.local_rank));
  auto group = std::make_shared<ProcessGroup>(ProcessGroupOptions{
      .rendezvous = rendezvous, .device = device, .timeout = options.timeout});
  auto one = MakeSingleProcessBackend(device);
  if (name == "ddp") {
    return MakeDdpBackend(std::move(group), std::move(one), options.ddp);
  }
  if (name == "fsdp") {
    return MakeFsdpBackend(std::move(group), std::move(one), options.fsdp);
  }
  ZeroOptions zero = options.zero;
  zero.stage = name == "zero1" ? 1 : 2;
  return MakeZeroBackend(std::move(group), std::move(one), zero);
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
  const auto made = [&](const std::string& plain) -> std::unique_ptr<Backend> {
    if (plain == "sp") return single();
    for (const char* const several : {"ddp", "zero1", "zero2", "fsdp"}) {
      if (plain == several) return MakeRank(options, plain);
    }
    C10_THROW_ERROR(ValueError,
                    "there is no backend \"" + name +
                        "\"; there are: sp, ddp, zero1, zero2, fsdp, and each "
                        "of them with -amp, e.g. sp-amp");
  };
  constexpr std::string_view kAmp = "-amp";
  if (!name.ends_with(kAmp)) return made(name);
  return MakeAmpBackend(made(name.substr(0, name.size() - kAmp.size())),
                        options.amp);
}

}  // namespace trainyard

#include "backends/make_backend.h"

#include <c10/util/Exception.h>

#include <string_view>

#include "backends/make_single_backend.h"
#include "backends/processes/process_group.h"
#include "backends/processes/rendezvous.h"
#include "backends/sharded/fsdp.h"
#include "backends/sharded/zero.h"
#include "backends/single_process.h"
#include "trainer/accelerator.h"

namespace trainyard {
namespace {

// One of several processes.
std::unique_ptr<Backend> MakeRank(const BackendOptions& options,
                                  const std::string& name) {
  const Rendezvous rendezvous =
      options.rendezvous ? *options.rendezvous : RendezvousFromEnvironment();
  const at::Device device =
      options.device ? *options.device : DefaultDevice(rendezvous.local_rank);
  MakeCurrent(device);
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
  if (name == "sp" || name == "sp-amp") {
    return MakeSingleBackend(name,
                             {.device = options.device, .amp = options.amp});
  }
  const auto made = [&](const std::string& plain) -> std::unique_ptr<Backend> {
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

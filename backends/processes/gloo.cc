#include "backends/processes/gloo.h"

#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "backends/processes/own_address.h"

namespace trainyard {
namespace {

using c10d::ProcessGroupGloo;

// Only c10d's own functions make devices: Debian's headers are of an older gloo
// than the one inside libtorch.
std::shared_ptr<gloo::transport::Device> MakeDevice(
    const Rendezvous& rendezvous) {
  if (rendezvous.interface) {
    return ProcessGroupGloo::createDeviceForInterface(*rendezvous.interface);
  }
  return ProcessGroupGloo::createDeviceForHostname(
      ChooseOwnAddress(rendezvous).address);
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> MakeGloo(
    const c10::intrusive_ptr<c10d::Store>& store, const GlooOptions& options) {
  auto gloo = ProcessGroupGloo::Options::create(options.timeout);
  gloo->devices.push_back(MakeDevice(options.rendezvous));
  return c10::make_intrusive<ProcessGroupGloo>(
      store, static_cast<int>(options.rendezvous.rank),
      static_cast<int>(options.rendezvous.world_size), gloo);
}

}  // namespace trainyard

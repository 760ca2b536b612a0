#include "backends/testing/standin/random_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/Exception.h>

#include "backends/testing/standin/generator.h"
#include "backends/testing/standin/runtime.h"

namespace trainyard::standin {

RandomState::RandomState(const c10::OperatorHandle& op, c10::DeviceIndex device,
                         torch::jit::Stack& host) {
  if (!op.hasTag(at::Tag::nondeterministic_seeded)) return;
  const at::Generator own = HostGenerator(DefaultGenerator(device));
  const auto& arguments = op.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() != "generator") continue;
    if (host[i].isNone()) host[i] = own;
    // A graph of CUDA advances the default generator only.
    TORCH_CHECK(
        host[i].toGenerator() == own || !Runtime::Get().Captures(device),
        "standin: ", op.schema().name(),
        " has a generator of its own while a graph is captured; only "
        "the device's default generator advances at each replay");
    return;
  }
  own_ = own;
  at::Generator cpu = at::detail::getDefaultCPUGenerator();
  before_ = cpu.get_state();
  cpu.set_state(own_->get_state());
}

RandomState::~RandomState() {
  if (!own_) return;
  at::Generator cpu = at::detail::getDefaultCPUGenerator();
  own_->set_state(cpu.get_state());
  cpu.set_state(before_);
}

}  // namespace trainyard::standin

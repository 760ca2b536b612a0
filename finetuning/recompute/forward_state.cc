#include "finetuning/recompute/forward_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <mutex>

namespace trainyard {
namespace {

at::Tensor StateOf(at::Generator generator) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

}  // namespace

ForwardState::ForwardState(const std::vector<at::Tensor>& inputs, bool rng) {
  ReadAutocast();
  if (!rng) return;
  const at::Generator& host = at::detail::getDefaultCPUGenerator();
  generators_.push_back({host, StateOf(host)});
  std::vector<at::Device> devices;
  for (const at::Tensor& input : inputs) {
    if (!input.defined() || input.is_cpu()) continue;
    if (std::count(devices.begin(), devices.end(), input.device())) continue;
    devices.push_back(input.device());
    const at::Generator& own =
        at::globalContext().defaultGenerator(input.device());
    generators_.push_back({own, StateOf(own)});
  }
}

ForwardState::ForwardState(const std::vector<Rng>& generators) {
  ReadAutocast();
  for (const Rng& rng : generators) {
    generators_.push_back({rng.generator, StateOf(rng.generator)});
  }
}

void ForwardState::ReadAutocast() {
  for (const at::DeviceType device :
       at::autocast::_AUTOCAST_SUPPORTED_DEVICES) {
    autocast_.push_back({device, at::autocast::is_autocast_enabled(device),
                         at::autocast::get_autocast_dtype(device)});
  }
}

void ForwardState::Apply() const {
  for (const Casting& casting : autocast_) {
    at::autocast::set_autocast_enabled(casting.device, casting.enabled);
    at::autocast::set_autocast_dtype(casting.device, casting.dtype);
  }
  for (const Rng& rng : generators_) {
    at::Generator generator = rng.generator;
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(rng.state);
  }
}

ForwardState::Restore::Restore(const ForwardState& state)
    : now_(state.generators_) {
  state.Apply();
}

ForwardState::Restore::~Restore() { now_.Apply(); }

NoAutocastCache::NoAutocastCache()
    : before_(at::autocast::is_autocast_cache_enabled()) {
  at::autocast::set_autocast_cache_enabled(false);
}

NoAutocastCache::~NoAutocastCache() {
  at::autocast::set_autocast_cache_enabled(before_);
}

}  // namespace trainyard

#include "backends/testing/standin/generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>

#include <vector>

#include "backends/testing/standin/runtime.h"

namespace trainyard::standin {
namespace {

class DeviceGenerator final : public c10::GeneratorImpl {
 public:
  DeviceGenerator(c10::DeviceIndex device, at::Generator host)
      : GeneratorImpl(c10::Device(kType, device),
                      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        host_(std::move(host)) {}

  void set_current_seed(uint64_t seed) override {
    host_.set_current_seed(seed);
  }
  void set_offset(uint64_t offset) override { host_.set_offset(offset); }
  uint64_t get_offset() const override { return host_.get_offset(); }
  uint64_t current_seed() const override { return host_.current_seed(); }
  uint64_t seed() override { return host_.seed(); }
  void set_state(const c10::TensorImpl& state) override {
    host_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return host_.unsafeGetGeneratorImpl()->get_state();
  }

  const at::Generator& host() const { return host_; }

 private:
  DeviceGenerator* clone_impl() const override {
    return new DeviceGenerator(device().index(), host_.clone());
  }
  at::Generator host_;
};

}  // namespace

at::Generator NewGenerator(c10::DeviceIndex device) {
  return at::make_generator<DeviceGenerator>(device,
                                             at::detail::createCPUGenerator());
}

const at::Generator& DefaultGenerator(c10::DeviceIndex device) {
  static const auto* const generators = [] {
    auto* const all = new std::vector<at::Generator>;
    for (int i = 0; i < kNumDevices; ++i) {
      all->push_back(NewGenerator(static_cast<c10::DeviceIndex>(i)));
    }
    return all;
  }();
  return generators->at(device < 0 ? Runtime::Get().current_device() : device);
}

at::Generator HostGenerator(const at::Generator& generator) {
  if (!generator.defined() || generator.device().type() != kType) {
    return generator;
  }
  return static_cast<const DeviceGenerator*>(generator.unsafeGetGeneratorImpl())
      ->host();
}

}  // namespace trainyard::standin

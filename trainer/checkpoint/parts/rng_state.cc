#include "trainer/checkpoint/parts/rng_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>
#include <string>

#include "trainer/accelerator.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

constexpr int64_t kVersion = 1;
constexpr char kHost[] = "cpu";

at::Tensor StateOf(at::Generator generator) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void SetState(at::Generator generator, const at::Tensor& state) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

// Under the name of its type: "cuda".
std::string NameOf(c10::DeviceType type) {
  return c10::DeviceTypeName(type, /*lower_case=*/true);
}

// Of the current device.
at::Generator GeneratorOf(c10::DeviceType type) {
  return at::globalContext().defaultGenerator(at::Device(type));
}

}  // namespace

State SaveRngState() {
  State state(kVersion);
  SetTensor(state, kHost, StateOf(at::detail::getDefaultCPUGenerator()));
  if (const auto type = AcceleratorType()) {
    SetTensor(state, NameOf(*type), StateOf(GeneratorOf(*type)));
  }
  return state;
}

void LoadRngState(const State& state) {
  state.CheckVersion(kVersion);
  const at::Tensor& host = GetTensor(state, kHost);
  const auto type = AcceleratorType();
  if (type && state.Has(NameOf(*type))) {
    SetState(GeneratorOf(*type), GetTensor(state, NameOf(*type)));
  }
  SetState(at::detail::getDefaultCPUGenerator(), host);
}

}  // namespace trainyard

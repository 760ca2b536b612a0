#include "trainer/checkpoint/parts/rng_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

constexpr int64_t kVersion = 1;
constexpr char kHost[] = "cpu";
constexpr char kCuda[] = "cuda";

at::Tensor StateOf(at::Generator generator) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void SetState(at::Generator generator, const at::Tensor& state) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

at::Generator CudaGenerator() {
  return at::globalContext().defaultGenerator(at::Device(at::kCUDA));
}

}  // namespace

State SaveRngState() {
  State state(kVersion);
  SetTensor(state, kHost, StateOf(at::detail::getDefaultCPUGenerator()));
  if (at::hasCUDA()) SetTensor(state, kCuda, StateOf(CudaGenerator()));
  return state;
}

void LoadRngState(const State& state) {
  state.CheckVersion(kVersion);
  const at::Tensor& host = GetTensor(state, kHost);
  if (state.Has(kCuda) && at::hasCUDA()) {
    SetState(CudaGenerator(), GetTensor(state, kCuda));
  }
  SetState(at::detail::getDefaultCPUGenerator(), host);
}

}  // namespace trainyard

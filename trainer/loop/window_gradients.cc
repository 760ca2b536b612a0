#include "trainer/loop/window_gradients.h"

#include <ATen/core/Tensor.h>

#include <string>

#include "trainer/model/model_tensors.h"
#include "trainer/state_tensor.h"

namespace trainyard {

State WindowGradients::SaveState() const {
  State state;
  for (const ModelTensors& model : task_.Models()) {
    for (const auto& [name, parameter] : model.parameters) {
      if (parameter.grad().defined()) {
        SetTensor(state, model.name + "/" + name, parameter.grad());
      }
    }
  }
  return state;
}

void WindowGradients::LoadState(const State& state) {
  state.CheckVersion(1);
  for (const ModelTensors& model : task_.Models()) {
    for (const auto& [name, parameter] : model.parameters) {
      const std::string key = model.name + "/" + name;
      if (!state.Has(key)) continue;
      parameter.mutable_grad() =
          GetTensor(state, key)
              .to(parameter.device(), /*non_blocking=*/false, /*copy=*/true);
    }
  }
}

}  // namespace trainyard

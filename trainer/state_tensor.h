// Tensors in a State.
//
//   SetTensor(state, "scale", scale_);
//   scale_ = GetTensor(state, "scale").clone();
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_STATE_TENSOR_H_
#define TRAINYARD_TRAINER_STATE_TENSOR_H_

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "trainer/state.h"

namespace trainyard {

// Shares the tensor's memory.
inline void SetTensor(State& state, std::string name, at::Tensor tensor) {
  state.Set(std::move(name),
            std::make_shared<const at::Tensor>(std::move(tensor)));
}

// Throws std::invalid_argument if there is no tensor of that name.
inline const at::Tensor& GetTensor(const State& state, std::string_view name) {
  return *state.Get<std::shared_ptr<const at::Tensor>>(name);
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_STATE_TENSOR_H_

#include "trainer/model/model_unit.h"

namespace trainyard {

void ModelUnit::Enter(const std::vector<at::Tensor>& inputs) const {
  if (const auto watcher = watcher_.lock()) watcher->Enter(*this, inputs);
}

void ModelUnit::Leave(const std::vector<at::Tensor>& outputs) const {
  if (const auto watcher = watcher_.lock()) watcher->Leave(*this, outputs);
}

std::vector<at::Tensor> ModelUnit::Run(
    const std::vector<at::Tensor>& inputs,
    c10::function_ref<std::vector<at::Tensor>()> pass) const {
  if (watcher_.expired()) return pass();
  Enter(inputs);
  std::vector<at::Tensor> outputs;
  try {
    outputs = pass();
  } catch (...) {
    Leave({});
    throw;
  }
  Leave(outputs);
  return outputs;
}

at::Tensor ModelUnit::Run(
    const at::Tensor& input,
    c10::function_ref<at::Tensor(const at::Tensor&)> pass) const {
  if (watcher_.expired()) return pass(input);
  return Run(std::vector<at::Tensor>{input},
             [&] { return std::vector<at::Tensor>{pass(input)}; })[0];
}

}  // namespace trainyard

#include "trainer/data/collate.h"

#include <ATen/ops/stack.h>

namespace trainyard {

at::Tensor StackTensors(const std::vector<at::Tensor>& tensors) {
  const at::Tensor& first = tensors.front();
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK_VALUE(tensors[i].defined() == first.defined(),
                      "StackItems: item ", first.defined() ? i : 0,
                      " leaves out a tensor that item ",
                      first.defined() ? 0 : i, " has");
    if (!first.defined()) continue;
    TORCH_CHECK_VALUE(
        tensors[i].sizes() == first.sizes(), "StackItems: item 0 has shape ",
        first.sizes(), ", item ", i, " has ", tensors[i].sizes(),
        "; items of different shapes need a collate function that pads them");
  }
  return first.defined() ? at::stack(tensors) : at::Tensor();
}

}  // namespace trainyard

// NamedTensor is a tensor with the name under which it is saved: a parameter of
// a model, a part of an optimizer's state, an entry of a file.
//
//   std::vector<NamedTensor> state = {{"weight/step", step}};
//   SortByName(state);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_NAMED_TENSOR_H_
#define TRAINYARD_TRAINER_MODEL_NAMED_TENSOR_H_

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace trainyard {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// Sorts a list into the order in which lists are saved and compared.
void SortByName(std::vector<NamedTensor>& tensors);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_NAMED_TENSOR_H_

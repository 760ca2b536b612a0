// NamedTensor is a tensor with the name that it is saved under: a parameter of
// a model, a part of an optimizer's state, an entry of a file.
//
//   std::vector<NamedTensor> state = {{"weight/step", step}};
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_NAMED_TENSOR_H_
#define TRAINYARD_TRAINER_NAMED_TENSOR_H_

#include <ATen/core/Tensor.h>

#include <string>

namespace trainyard {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_NAMED_TENSOR_H_

// AllTensors lists all tensors of a model by name, in the order of a Python
// state_dict's two kinds: first parameters, then buffers.
//
//   const std::vector<NamedTensor> tensors = AllTensors(*Borrowed(*model));
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_WARM_START_ALL_TENSORS_H_
#define TRAINYARD_FINETUNING_WARM_START_ALL_TENSORS_H_

#include <memory>
#include <vector>

#include "trainer/model/model.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

inline std::vector<NamedTensor> AllTensors(const Model& model) {
  std::vector<NamedTensor> tensors = model.Parameters();
  for (NamedTensor& buffer : model.Buffers()) {
    tensors.push_back(std::move(buffer));
  }
  return tensors;
}

// A Model that borrows `module`, which must outlive it.
inline std::shared_ptr<Model> Borrowed(torch::nn::Module& module) {
  return NnModel(std::shared_ptr<torch::nn::Module>(
      std::shared_ptr<torch::nn::Module>(), &module));
}

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_ALL_TENSORS_H_

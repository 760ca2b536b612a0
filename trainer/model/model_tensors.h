// ModelTensors has the tensors of a model by name, in the order of the model.
// Backends need no more of a model.
//
//   const ModelTensors net = {"net", {{"weight", w}}, {{"running_mean", m}}};
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_MODEL_TENSORS_H_
#define TRAINYARD_TRAINER_MODEL_MODEL_TENSORS_H_

#include <string>
#include <vector>

#include "trainer/model/model_unit.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

struct ModelTensors {
  std::string name;
  // Including frozen ones.
  std::vector<NamedTensor> parameters;
  std::vector<NamedTensor> buffers = {};
  std::vector<UnitTensors> units = {};
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_MODEL_TENSORS_H_

// ModelTensors is a model as a backend sees it: its tensors by name, in the
// model's own order, without the module that computes with them.
//
//   backend.Prepare({{"net", {{"weight", w}}, {{"running_mean", m}}}});
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_MODEL_TENSORS_H_
#define TRAINYARD_TRAINER_MODEL_MODEL_TENSORS_H_

#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace trainyard {

struct ModelTensors {
  std::string name;
  // Those that are frozen, too.
  std::vector<NamedTensor> parameters;
  std::vector<NamedTensor> buffers = {};
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_MODEL_TENSORS_H_

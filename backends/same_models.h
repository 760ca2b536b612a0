// Checks and copies that give all ranks the same models before they train.
//
//   CheckSameModels(collectives, models);
//   CopyTensors(group, {weight, bias});
#ifndef TRAINYARD_BACKENDS_SAME_MODELS_H_
#define TRAINYARD_BACKENDS_SAME_MODELS_H_

#include <vector>

#include "backends/collectives.h"
#include "backends/processes/process_group.h"
#include "trainer/model/model_tensors.h"

namespace trainyard {

// Throws c10::ValueError on all ranks unless the models of all ranks have
// tensors of the same names, shapes, types and requires_grad. The error names
// the rank and the first tensor that differs. Collective.
void CheckSameModels(Collectives& collectives,
                     const std::vector<ModelTensors>& models);

// Copies rank 0's tensors to all other ranks. REQUIRES: CheckSameModels did not
// throw. Collective.
void CopyTensors(ProcessGroup& group, std::vector<at::Tensor> tensors);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SAME_MODELS_H_

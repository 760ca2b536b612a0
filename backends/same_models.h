// CheckSameModels and CopyTensors give all processes rank 0's models, after
// making sure that they have the same tensors in them.
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

// Throws c10::ValueError on all ranks, naming the rank and the first tensor
// that differs, unless all have tensors of the same names, shapes and types,
// and agree on which require a gradient. Collective: all ranks must call it.
void CheckSameModels(Collectives& collectives,
                     const std::vector<ModelTensors>& models);

// Copies rank 0's tensors to all others. REQUIRES: CheckSameModels. Collective:
// all ranks must call it.
void CopyTensors(ProcessGroup& group, std::vector<at::Tensor> tensors);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SAME_MODELS_H_

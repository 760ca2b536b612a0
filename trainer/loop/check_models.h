// CheckModels refuses to train what no checkpoint would have: parameters that
// are in no model of the task.
//
//   CheckModels(task.Models(), task.optimizers());
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_CHECK_MODELS_H_
#define TRAINYARD_TRAINER_LOOP_CHECK_MODELS_H_

#include <vector>

#include "trainer/model/model_tensors.h"
#include "trainer/task.h"

namespace trainyard {

// Throws c10::ValueError, with the line to write, if there is no model, or if
// an optimizer trains a parameter of none.
void CheckModels(const std::vector<ModelTensors>& models,
                 const std::vector<NamedOptimizer>& optimizers);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_CHECK_MODELS_H_

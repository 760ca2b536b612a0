// Evaluate runs a task over a dataset once, without gradients, and returns its
// loss and metrics under the set's name: "eval_loss", "eval_accuracy". They are
// means over all records, or what the task's EvalReducers make of them.
//
// The caller puts the models into evaluation mode.
#ifndef TRAINYARD_TRAINER_LOOP_EVALUATION_H_
#define TRAINYARD_TRAINER_LOOP_EVALUATION_H_

#include <cstdint>
#include <string>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "trainer/data/loader.h"
#include "trainer/events.h"
#include "trainer/step_state.h"
#include "trainer/task.h"

namespace trainyard {

struct EvaluationParts {
  Task& task;
  Backend& backend;
  CallbackHandler& callbacks;
  // Where the run is; not changed.
  const StepState& state;
};

struct EvaluationOptions {
  // Put before each metric's name, with an underscore.
  std::string name;
  // Ends the evaluation early. 0: no limit.
  int64_t max_batches = 0;
};

// The caller records the metrics and fires EvalEnd.
Metrics Evaluate(const EvaluationParts& parts, Loader& loader,
                 const EvaluationOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_EVALUATION_H_

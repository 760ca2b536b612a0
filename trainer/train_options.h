// TrainOptions says what one run does; MakeRunConfig works out the numbers that
// follow from it.
//
//   TrainOptions options{.data = train, .num_epochs = 5};
//   const RunConfig config = MakeRunConfig(options, *backend);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_TRAIN_OPTIONS_H_
#define TRAINYARD_TRAINER_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "schedulers/per_group.h"
#include "trainer/data/dataset.h"
#include "trainer/optim/clip.h"
#include "trainer/run_config.h"
#include "trainer/train_unit.h"

namespace trainyard {

// Data to evaluate on; its metrics are named "<name>_loss" and so on.
struct EvalSet {
  std::string name;
  DatasetPtr data;
};

// A schedule of one field of the optimizer, e.g. "weight_decay".
struct FieldSchedule {
  std::string field;
  GroupSchedules schedule;
};

struct TrainOptions {
  // Trained on in another order each epoch. Required.
  DatasetPtr data;
  // Evaluated under the name "eval", if there is one.
  DatasetPtr eval_data = nullptr;
  // Evaluated after it, in this order. REQUIRES: names are different.
  std::vector<EvalSet> eval_sets = {};
  // When to evaluate. Unless it is never, a run that finishes ends with an
  // evaluation of its final weights.
  Period evaluate = Every(Epochs(1));

  // The run ends with the first of the two that is reached; 0 sets no limit,
  // and one is needed.
  int64_t num_epochs = 0;
  int64_t max_updates = 0;

  // Shorter epochs, for trying things out. 0: no limit. The environment
  // variable TRAINYARD_LIMIT_BATCHES limits both, too.
  int64_t max_batches_per_epoch = 0;
  int64_t max_eval_batches = 0;

  // Samples per batch on each device. REQUIRES: >= 1.
  int64_t per_device_batch_size = 8;
  // 0: the same. Evaluation keeps no gradients, so more may fit.
  int64_t eval_per_device_batch_size = 0;
  // Batches per update. REQUIRES: >= 1.
  int64_t grad_accum_steps = 1;
  // Applied once per update.
  Clip clip = {};
  // Of the learning rate, stepped once per update: one schedule for all groups
  // or, by PerGroup, one for each. None: constant.
  GroupSchedules schedule = {};
  // Of other fields, stepped alike.
  std::vector<FieldSchedule> schedules = {};

  // Decides the order of samples. Weights and dropout follow torch's own
  // generator.
  uint64_t seed = 0;

  // SIGINT and SIGTERM end the run after the current step, with OnCancel; a
  // second one ends the process. False: signals are the caller's business.
  bool handle_signals = true;
};

// Throws c10::ValueError, naming the option and its value, for options that no
// run can have.
void CheckTrainOptions(const TrainOptions& options);

// REQUIRES: checked options.
RunConfig MakeRunConfig(const TrainOptions& options, const Backend& backend);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TRAIN_OPTIONS_H_

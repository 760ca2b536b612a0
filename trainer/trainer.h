// Trainer couples a task, an optimizer and a backend into a run.
//
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//   trainer.Add(ProgressBar());
//   const RunResult result = trainer.Train({.data = train, .eval_data = test,
//   .num_epochs = 5,
//                                           .per_device_batch_size = 128,
//                                           .schedule = Cosine({.warmup =
//                                           Epochs(1)})});
//
// trainer/events.h gives the order of a run's events. Thread-compatible.
#ifndef TRAINYARD_TRAINER_TRAINER_H_
#define TRAINYARD_TRAINER_TRAINER_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "schedulers/schedule.h"
#include "tracking/run_history.h"
#include "trainer/control.h"
#include "trainer/data/dataset.h"
#include "trainer/data/loader.h"
#include "trainer/events.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"
#include "trainer/run_config.h"
#include "trainer/step_runner.h"
#include "trainer/step_state.h"
#include "trainer/task.h"

namespace trainyard {

struct TrainOptions {
  // Trained on in another order each epoch. Required.
  DatasetPtr data;
  // Evaluated after each epoch, if there is one.
  DatasetPtr eval_data = nullptr;

  // The run ends with the first of the two that is reached; 0 sets no limit,
  // and one is needed.
  int64_t num_epochs = 0;
  int64_t max_updates = 0;

  // Samples per batch on each device. REQUIRES: >= 1.
  int64_t per_device_batch_size = 8;
  // 0: the same. Evaluation keeps no gradients, so more may fit.
  int64_t eval_per_device_batch_size = 0;
  // Batches per update. REQUIRES: >= 1.
  int64_t grad_accum_steps = 1;
  // Applied once per update.
  Clip clip = {};
  // Of the learning rate, stepped once per update. Null: constant.
  ScheduleFactory schedule = nullptr;

  // Decides the order of samples. Weights and dropout follow torch's own
  // generator.
  uint64_t seed = 0;
};

struct RunResult {
  RunEnding ending = RunEnding::kFinished;
  // Why a run was stopped.
  std::string message;
  StepState state;
  // Whole run; and the part of it spent training, without evaluation.
  double seconds = 0;
  double train_seconds = 0;
};

class Trainer {
 public:
  // Optimizer and backend are borrowed. Moves the task's models to the
  // backend's device.
  Trainer(std::unique_ptr<Task> task, Optimizer& optimizer, Backend& backend);

  // Adds a callback: a variable is borrowed, a temporary kept.
  template <class T>
  auto& Add(T&& callback, Duplicates duplicates = Duplicates::kReject) {
    return callbacks_.Add(std::forward<T>(callback), duplicates);
  }

  // One run from the models' present weights. What a step, dataset or callback
  // throws ends the run: OnRunEnd is called with it, then it is thrown on.
  RunResult Train(const TrainOptions& options);

  // One evaluation; metrics are named "evaluation_…".
  Metrics Evaluate(DatasetPtr data, int64_t per_device_batch_size = 8);

  // A Markdown table of which callback runs when.
  std::string DescribeCallbacks() const { return callbacks_.Describe(); }

  const RunHistory& history() const { return history_; }
  const Task& task() const { return *task_; }

 private:
  struct Run;

  RunConfig MakeConfig(const TrainOptions& options, const Loader& loader) const;
  void RunEpochs(Run& run);
  // Returns whether the epoch came to its end.
  bool RunEpoch(Run& run);
  bool TrainEpoch(Run& run);
  void EvaluateEpoch(Run& run);
  std::exception_ptr EndRun(Run& run);

  std::unique_ptr<Task> task_;
  Optimizer& optimizer_;
  Backend& backend_;
  Control control_;
  CallbackHandler callbacks_;
  InMemoryRunHistory history_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TRAINER_H_

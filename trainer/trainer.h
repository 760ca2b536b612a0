// Trainer trains the models of a task with an optimizer on a backend.
//
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//   const RunResult result = trainer.Train(
//       {.data = train, .eval_data = test, .num_epochs = 5});
//
// trainer/events.h lists the events of a run in order. Thread-compatible.
#ifndef TRAINYARD_TRAINER_TRAINER_H_
#define TRAINYARD_TRAINER_TRAINER_H_

#include <optional>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "tracking/run_history.h"
#include "trainer/control.h"
#include "trainer/held_task.h"
#include "trainer/run_result.h"
#include "trainer/train_options.h"

namespace trainyard {

struct TrainerOptions {
  // Whether a run has, without asking, a ProgressBar and an EpochTable on rank
  // 0, and a TerminateOnNaN: see trainer/default_callbacks.h. A callback of the
  // same class that you add takes the place of the default one.
  bool default_callbacks = true;
};

class Trainer {
 public:
  // Borrows the optimizer and the backend. Borrows a task that is a variable;
  // keeps a temporary or a unique_ptr. Moves its models to the backend's
  // device.
  template <class T>
  Trainer(T&& task, Optimizer& optimizer, Backend& backend,
          TrainerOptions options = {})
      : Trainer(HeldTask(std::forward<T>(task)), &optimizer, backend, options) {
  }

  // For a task that adds its optimizers itself, by AddOptimizer.
  template <class T>
  Trainer(T&& task, Backend& backend, TrainerOptions options = {})
      : Trainer(HeldTask(std::forward<T>(task)), nullptr, backend, options) {}

  // Adds a callback and returns it. Borrows a variable, keeps a temporary.
  template <class T>
  auto& Add(T&& callback, AddOptions options = {}) {
    return callbacks_.Add(std::forward<T>(callback), std::move(options));
  }

  // Trains from the current weights, or resumes from the newest checkpoint
  // (`options.resume`). If a task, dataset or callback throws, OnRunEnd is
  // called with the error, then the exception is rethrown.
  RunResult Train(const TrainOptions& options);

  // Evaluates the models on `data`, with metrics named "evaluation_…". Unset
  // batch size: that of evaluations in the last run.
  Metrics Evaluate(DatasetPtr data,
                   std::optional<int64_t> per_device_batch_size = std::nullopt);

  // To Find callbacks, Fire events of any type, Describe who is called when.
  CallbackHandler& callbacks() { return callbacks_; }

  // Records metrics in this history from now on. Borrows it.
  void UseHistory(RunHistory& history) { history_ = &history; }
  const RunHistory& history() const { return *history_; }
  const Task& task() const { return *task_.task(); }

 private:
  Trainer(HeldTask task, Optimizer* optimizer, Backend& backend,
          TrainerOptions options);

  HeldTask task_;
  // The constructor's first, then the task's.
  std::vector<NamedOptimizer> optimizers_;
  Backend& backend_;
  const TrainerOptions options_;
  Control control_;
  CallbackHandler callbacks_;
  InMemoryRunHistory own_history_;
  RunHistory* history_ = &own_history_;
  int64_t eval_batch_size_;
  LoadOptions eval_load_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TRAINER_H_

// Trainer trains the models of a task with an optimizer on a backend.
//
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//   const RunResult result = trainer.Train(
//       {.data = train, .eval_data = test, .length = Epochs(5)});
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
  // Whether a run has the callbacks of trainer/default_callbacks.h.
  bool default_callbacks = true;
};

class Trainer {
 public:
  // Moves the task's models to the backend's device. Keeps a task that is a
  // temporary or a unique_ptr; borrows the rest.
  Trainer(HeldTask task, Optimizer& optimizer, Backend& backend,
          TrainerOptions options = {});
  // For a task that adds its optimizers itself, by AddOptimizer.
  Trainer(HeldTask task, Backend& backend, TrainerOptions options = {});

  // Adds a callback and returns it. Borrows a variable, keeps a temporary.
  template <class T>
  auto& Add(T&& callback, AddOptions options = {}) {
    return callbacks_.Add(std::forward<T>(callback), std::move(options));
  }

  // Trains from the current weights, or resumes from a checkpoint. If a task,
  // dataset or callback throws, calls OnRunEnd with the error, then rethrows.
  RunResult Train(const TrainOptions& options);

  // The metrics of the models on `data`, named "evaluation_…". Unset batch
  // size: that of evaluations in the last run.
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
  std::vector<NamedOptimizer> optimizers_;  // the constructor's comes first
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

// Trainer couples a task, an optimizer and a backend into a run.
//
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//   trainer.Add(ProgressBar());
//   const RunResult result =
//       trainer.Train({.data = train,
//                      .eval_data = test,
//                      .num_epochs = 5,
//                      .per_device_batch_size = 128,
//                      .schedule = Cosine({.warmup = Epochs(1)})});
//
// trainer/events.h gives the order of a run's events. Thread-compatible.
#ifndef TRAINYARD_TRAINER_TRAINER_H_
#define TRAINYARD_TRAINER_TRAINER_H_

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "tracking/run_history.h"
#include "trainer/control.h"
#include "trainer/data/dataset.h"
#include "trainer/events.h"
#include "trainer/optim/optimizer.h"
#include "trainer/state.h"
#include "trainer/step_state.h"
#include "trainer/task.h"
#include "trainer/train_options.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct Checkpoint;

struct RunResult {
  RunEnding ending = RunEnding::kFinished;
  // Why a run was stopped or cancelled.
  std::string message;
  StepState state;
  // Of this call, without earlier parts of a resumed run.
  int64_t samples = 0;
  double seconds = 0;
  // What of it was spent training, without evaluation.
  double train_seconds = 0;
};

class Trainer {
 public:
  // Optimizer and backend are borrowed. Moves the task's models to the
  // backend's device.
  Trainer(std::unique_ptr<Task> task, Optimizer& optimizer, Backend& backend);

  // For a task that has its optimizers itself, added by AddOptimizer.
  Trainer(std::unique_ptr<Task> task, Backend& backend);

  // Adds a callback: a variable is borrowed, a temporary kept.
  template <class T>
  auto& Add(T&& callback, AddOptions options = {}) {
    return callbacks_.Add(std::forward<T>(callback), std::move(options));
  }

  // One run from the models' present weights, or from where an earlier one
  // was. What a step, dataset or callback
  // throws ends the run: OnRunEnd is called with it, then it is thrown on.
  RunResult Train(const TrainOptions& options);

  // One evaluation; metrics are named "evaluation_…".
  Metrics Evaluate(DatasetPtr data, int64_t per_device_batch_size = 8);

  // A Markdown table of which callback runs when.
  std::string DescribeCallbacks() const { return callbacks_.Describe(); }

  // Keeps the history in an object of the user's, borrowed, from now on.
  void UseHistory(RunHistory& history) { history_ = &history; }
  const RunHistory& history() const { return *history_; }

  const Task& task() const { return *task_; }

  // What lives as long as one call of Train.
  struct Run;

 private:
  Trainer(std::unique_ptr<Task> task, Optimizer* optimizer, Backend& backend);

  Optimizer& FindOptimizer(const std::string& name) const;
  void AddSchedules(Run& run);
  void FireInitEnd();
  void RunEpochs(Run& run);
  // Whether the epoch came to its end, with more to come or none left.
  bool RunEpoch(Run& run);
  void RecordEpochMeans(Run& run);
  void RunStep(Run& run, int64_t batches_left);
  // After an update was dropped because a loss is not finite.
  void StopOrGoOnAfterDrop(const Run& run);
  // Does what has become due with the last batch. Returns whether the run is to
  // end here.
  bool DoWhatIsDue(Run& run);
  // What every end of a run but an error has.
  void DoLastThings(Run& run, bool finished, bool save = true);
  void EvaluateIfDue(Run& run);
  void EvaluateAll(Run& run);
  void EvaluateSets(Run& run, const std::string& prefix);
  void ReportMeans(Run& run);
  void ResumeIfAsked(Run& run);
  void SaveCheckpoint(Run& run, bool finished);
  std::map<std::string, State> CollectPosition(const Run& run) const;
  void LoadMeans(const Checkpoint& checkpoint, bool window_again, Run& run);
  Checkpoint CollectCheckpoint(const Run& run, bool finished) const;
  void LoadCheckpoint(const Checkpoint& checkpoint, Run& run);
  // Whether the processes that wrote it were others than these.
  bool WrittenByOthers(const Checkpoint& checkpoint) const;
  // Whether a stop or cancellation was asked for, on any process.
  bool ShouldEnd(const Run& run);
  void EndEarly(Run& run);
  std::pair<bool, std::string> ReasonOfAll(const Run& run);
  std::exception_ptr EndRun(Run& run);

  std::unique_ptr<Task> task_;
  // The one of the constructor first, then the task's.
  std::vector<NamedOptimizer> optimizers_;
  Backend& backend_;
  bool init_end_fired_ = false;
  Control control_;
  CallbackHandler callbacks_;
  InMemoryRunHistory own_history_;
  RunHistory* history_ = &own_history_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TRAINER_H_

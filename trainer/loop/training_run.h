// TrainingRun is one call of Trainer::Train: it owns what lives as long as the
// run, and runs its epochs.
//
//   TrainingRun run({task, optimizers, backend, callbacks, control, history},
//                   options);
//   const RunResult result = run.Run();
//
// Thread-compatible. Borrows its parts and the options.
#ifndef TRAINYARD_TRAINER_LOOP_TRAINING_RUN_H_
#define TRAINYARD_TRAINER_LOOP_TRAINING_RUN_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "tracking/metrics.h"
#include "tracking/run_history.h"
#include "trainer/checkpoint/parts/rng_state.h"
#include "trainer/control.h"
#include "trainer/data/batch_source.h"
#include "trainer/loop/batch_reader.h"
#include "trainer/loop/cancellation.h"
#include "trainer/loop/captured_step.h"
#include "trainer/loop/evaluator.h"
#include "trainer/loop/milestone.h"
#include "trainer/loop/run_checkpoints.h"
#include "trainer/loop/run_state.h"
#include "trainer/loop/step_runner.h"
#include "trainer/loop/window_gradients.h"
#include "trainer/run_clock.h"
#include "trainer/run_config.h"
#include "trainer/run_result.h"
#include "trainer/schedule_set.h"
#include "trainer/task.h"
#include "trainer/train_options.h"

namespace trainyard {

class TrainingRun {
 public:
  struct Parts {
    Task& task;
    const std::vector<NamedOptimizer>& optimizers;
    Backend& backend;
    CallbackHandler& callbacks;
    Control& control;
    RunHistory& history;
  };

  // Checks the options and prepares models, loaders and schedules. Throws
  // c10::ValueError for what no run can have. Collective: all ranks must call
  // it, and Run.
  TrainingRun(const Parts& parts, const TrainOptions& options);

  // Trains from the current weights, or resumes from a checkpoint. On an
  // exception fires RunEnd with the error, then rethrows it. Call it once.
  RunResult Run();

 private:
  Optimizer& FindOptimizer(const std::string& name) const;
  std::unique_ptr<BatchSource> MakeTrainSource() const;
  void AddEvalSets();
  std::unique_ptr<CapturedStep> MakeCapturedStep() const;
  StepRunner MakeStepRunner();
  void AddSchedules(int64_t total_updates);
  void RegisterState();

  void RunEpochs();
  // Whether all epochs or all updates are done.
  bool Finished() const;
  // Whether the length of the run, not the data, has ended this epoch. If the
  // data has an unknown length, it may have ended there, too.
  bool EpochIsCut() const;
  // The most batches that this epoch can still have: fewer if the data has an
  // unknown length.
  int64_t EpochBatchesLeft() const;
  // Returns whether the epoch was completed.
  bool RunEpoch();
  // Returns whether this was the epoch's last batch, of at most `batches_left`.
  bool RunStep(int64_t batches_left);
  // Reads what the ranks told each other along with the gradients.
  void ReadNotes();
  void AddMeans(const StepOutput& output);
  void RecordEpochMeans();
  // After an update was dropped because a loss is not finite: requests a stop,
  // or warns.
  void HandleDroppedUpdate();

  // Evaluates, saves and reports if due after the last batch, in this order,
  // then what callbacks requested. Returns whether the run is to end here.
  bool RunDueActions();
  // Whether anything is requested on any rank. After a batch it is what the
  // ranks told each other along with their last gradients; otherwise
  // collective.
  bool AnyRequested();
  // Whether this rank was asked for something, by a callback or a signal.
  bool RequestedHere() const;
  void RunRequestedActions();
  void Evaluate();
  void ReportMeans();
  void SaveCheckpoint(bool finished);
  // Loads the checkpoint that the options ask for.
  void RestoreLatest();
  void LoadCheckpoint(Checkpoint& checkpoint);
  // Whether this run has another length than the one that saved the checkpoint,
  // and something left to train.
  bool GoesOnAfterEnd(const Checkpoint& checkpoint) const;
  // The parts that a checkpoint has but this run does not take over.
  std::set<std::string> FreshParts() const;

  // Whether a stop or a signal was requested on any rank. Collective.
  bool ShouldEnd();
  void EndEarly();
  // The last checkpoint and report. Every run that ends without an error has
  // them, except for a stop that saves nothing.
  void FinishRun(bool finished, bool save);
  // Whether a signal ends the run, and why it ends. Collective.
  std::pair<bool, std::string> AgreeOnReason();
  std::exception_ptr FireRunEnd();

  Parts parts_;
  const TrainOptions& options_;
  BatchReader reader_;
  Evaluator evaluator_;
  const RunConfig config_;
  RunClock clock_;
  ScheduleSet schedules_;
  // Null: steps are not captured.
  std::unique_ptr<CapturedStep> captured_;
  StepRunner steps_;
  WindowGradients gradients_;
  RngState rng_;
  std::optional<Cancellation> cancellation_;
  std::optional<RunCheckpoints> checkpoints_;
  RunState state_;

  Milestone evaluation_;
  Milestone checkpoint_;
  Milestone report_;
  const bool needs_seconds_;
  // Whether anything was requested on any rank before the gradients of the last
  // batch were exchanged. Unset: ask the ranks, because there was no batch, or
  // something that is done rarely was done since.
  std::optional<bool> requested_;
  // Of TrainOptions::max_batches_per_epoch and the environment.
  const std::optional<int64_t> epoch_limit_;
  // Whether a callback on any rank hears reports.
  bool reports_heard_ = false;
  MetricMeans epoch_means_;
  MetricMeans report_means_;

  bool resumed_ = false;
  RunEnding ending_ = RunEnding::kFinished;
  std::string message_;
  // Of earlier parts of a resumed run.
  double seconds_before_ = 0;
  int64_t samples_before_ = 0;
  double eval_seconds_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_TRAINING_RUN_H_

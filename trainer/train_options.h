// TrainOptions says what one run does; MakeRunConfig works out the numbers that
// follow from it.
//
//   TrainOptions options{.data = train, .length = Epochs(5)};
//   const RunConfig config = MakeRunConfig(options, *backend, {.train = 469});
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_TRAIN_OPTIONS_H_
#define TRAINYARD_TRAINER_TRAIN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "schedulers/per_group.h"
#include "trainer/checkpoint_options.h"
#include "trainer/data/dataset.h"
#include "trainer/data/load_options.h"
#include "trainer/loop/cancellation.h"
#include "trainer/loop/micro_batch.h"
#include "trainer/optim/clip.h"
#include "trainer/run_config.h"
#include "trainer/schedule_set.h"
#include "trainer/train_unit.h"

namespace trainyard {

// Data to evaluate on; its metrics are named "<name>_loss" and so on.
struct EvalSet {
  std::string name;
  DatasetPtr data = nullptr;
  // Makes the source of its batches, in place of the task's EvalLoader. It may
  // be a stream of unknown length.
  MakeSource source = nullptr;
};

struct TrainOptions {
  // ---- What to train and evaluate on.

  // Trained on in another order each epoch. Required, unless `source` or the
  // task's TrainLoader has data of its own.
  DatasetPtr data = nullptr;
  // Makes the source of training batches, in place of the task's TrainLoader:
  // any BatchSource. If the length of its epochs is unknown, `length` or
  // `at_most` must be in updates.
  MakeSource source = nullptr;
  // How training batches are loaded: workers, prefetching, order, ...
  LoadOptions loader = {};
  // Evaluated under the name "eval", if there is one.
  DatasetPtr eval_data = nullptr;
  // Evaluated after it, in this order. REQUIRES: names are different.
  std::vector<EvalSet> eval_sets = {};
  // How evaluation batches are loaded. Unset: as in training, but all samples
  // in the order of the dataset.
  std::optional<LoadOptions> eval_loader = std::nullopt;

  // ---- How long.

  // Required: the length of the run from its start, earlier parts of a resumed
  // run included. In epochs, also a fraction of one, or in updates; MaxDuration
  // ends a run by another unit. The run ends exactly there, within an epoch if
  // need be, and schedules are made for this length. A finished run that is
  // resumed with a greater length goes on as if it had not ended: its last
  // evaluation is forgotten, an epoch that was cut short goes on.
  std::optional<Duration> length = std::nullopt;
  // Shortens the run to this, if it is reached before `length`.
  std::optional<Duration> at_most = std::nullopt;

  // ---- Batches and updates.

  // Samples per batch on each device. REQUIRES: >= 1.
  int64_t per_device_batch_size = 8;
  // For batches that do not fit into memory: trains on equal parts of at most
  // this many samples, which changes nothing else. REQUIRES: >= 1, if set.
  std::optional<int64_t> max_micro_batch_size = std::nullopt;
  // Batches per update. REQUIRES: >= 1.
  int64_t grad_accum_steps = 1;
  // Applied once per update.
  Clip clip = {};
  // Of the learning rate, stepped once per update: one schedule for all groups
  // or, by PerGroup, one for each. None: constant.
  GroupSchedules schedule = {};
  // Of other fields, other optimizers, or stepped otherwise.
  std::vector<FieldSchedule> schedules = {};
  // On an accelerator: after this many steps on batches of one shape, the step
  // is captured as a graph, which is replayed for later batches of that shape
  // (loop/captured_step.h has the rules). Learning rates are rounded to floats.
  // Unset: never. REQUIRES: >= 1, if set.
  std::optional<int64_t> capture_after_steps = std::nullopt;
  // A loss that is NaN or infinite never reaches the weights: the update of its
  // window is dropped on all processes. This many updates in a row may be
  // dropped before the run stops; the batches count in no mean. On other
  // devices than the CPU losses are looked at by TerminateOnNaN only.
  // REQUIRES: >= 0.
  int64_t max_dropped_updates = 0;

  // ---- What happens on the way.

  // When to evaluate. Unless it is Never(), a run that finishes ends with an
  // evaluation of its final weights.
  Period evaluate = Every(Epochs(1));
  // Also evaluates the initial weights, after OnRunStart and before the first
  // epoch. A run that is resumed has done so before. The metrics are the first
  // values in the history.
  bool evaluate_at_start = false;
  // Evaluation keeps no gradients, so more samples may fit. Unset: the same as
  // in training. REQUIRES: >= 1, if set.
  std::optional<int64_t> eval_per_device_batch_size = std::nullopt;
  // When to report the means of the training metrics to OnMetricsReport.
  Period report = Every(Batches(100));
  // Where and when the run saves checkpoints, whether it resumes, and from
  // which checkpoint.
  CheckpointOptions checkpoint = {};
  Resume resume = Resume::kNever;
  ResumeFrom resume_from = {};

  // ---- The rest.

  // Shorter epochs and evaluations, to try things out. The environment variable
  // TRAINYARD_LIMIT_BATCHES limits both, too. REQUIRES: >= 1, if set.
  std::optional<int64_t> max_batches_per_epoch = std::nullopt;
  std::optional<int64_t> max_eval_batches = std::nullopt;
  // Decides the order of samples. Weights and dropout follow torch's own
  // generator.
  uint64_t seed = 0;
  // Whether the history of an earlier run of this trainer is forgotten.
  bool reset_history = true;
  // Whether signals and the end of the job end the run after the current step,
  // with OnRunCancelled; a second SIGINT ends the process. False: both are the
  // caller's business.
  bool handle_signals = true;
  // Which signals end the run, which only save a checkpoint, and when the job
  // ends. Variables of the environment go before it: cancellation.h.
  CancellationOptions cancellation = {};
};

// Throws c10::ValueError, naming the option and its value, for options that no
// run can have.
void CheckTrainOptions(const TrainOptions& options);

// The batches that loaders have in an epoch. Unset: unknown.
struct LoaderLengths {
  std::optional<int64_t> train;
  // Of all evaluation sets together.
  std::optional<int64_t> eval = 0;
};

// The part of a batch that is trained on at a time, and the rest of the options
// that follow from it. REQUIRES: checked options.
MicroBatch MicroBatchOf(const TrainOptions& options);
int64_t EvalBatchSizeOf(const TrainOptions& options);
LoadOptions EvalLoadOf(const TrainOptions& options);

// Throws c10::ValueError if the length of the training data is unknown and
// neither `length` nor `at_most` is in updates. REQUIRES: checked options.
RunConfig MakeRunConfig(const TrainOptions& options, const Backend& backend,
                        const LoaderLengths& lengths);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TRAIN_OPTIONS_H_

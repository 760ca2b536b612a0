// The events of a run, each a struct with what is known at that moment. An
// event is valid only during the call that receives it. Tensors are on the
// device: reading one waits for the device, so read only what is needed.
//
// A callback may record its own values in the history of TrainEpochEnd and
// EpochEnd. Everything else is const. Every event has the run's clock.
//
// The loop fires them in this order (indented: once per turn of the loop above
// it):
//
//   InitEnd
//   CheckpointLoaded, if the run is resumed
//   RunStart
//   EvalStart, … EvalEnd, if evaluate_at_start
//     EpochStart
//       StepStart, ForwardEnd, LossEnd, BackwardEnd
//         at the end of a window: GradientsReady, UpdateEnd
//       StepEnd
//       if due or requested: evaluation, CheckpointSaved, MetricsReport
//     TrainEpochEnd
//     EvalStart, (EvalStepStart, EvalStepEnd)*, EvalEnd      per evaluation set
//     EpochEnd
//     if due at the end of an epoch: CheckpointSaved, MetricsReport
//   RunStopped or RunCancelled, if one of them ends the run
//   RunEnd                                                    always
#ifndef TRAINYARD_TRAINER_EVENTS_H_
#define TRAINYARD_TRAINER_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "trainer/run_clock.h"
#include "trainer/run_config.h"

namespace at {
class Tensor;
}  // namespace at

namespace trainyard {

class AnyBatch;
class Backend;
class RunHistory;
struct StepOutput;

// Why a run ended.
enum class RunEnding { kFinished, kStopped, kCancelled, kError };

// By metric name, in name order.
using Metrics = std::map<std::string, double>;

// The trainer is complete, and its first run or evaluation starts.
struct InitEnd {};

struct RunStart {
  const RunConfig& config;
  const RunClock& clock;
  // Whether the run continues from a checkpoint. The callbacks that have state
  // have loaded it.
  bool resumed;
  // The device and the ranks that train together: which one this is, of how
  // many, and collectives to exchange tensors. Lives as long as the run.
  Backend& backend;
};

struct EpochStart {
  const RunConfig& config;
  const RunClock& clock;
  // Batches that this epoch will have, unless the run ends before. Unset: the
  // length of the data is unknown.
  std::optional<int64_t> num_batches;
};

struct StepStart {
  const RunClock& clock;
  const AnyBatch& batch;
};

// The model's outputs are computed, the loss is not.
struct ForwardEnd {
  const RunClock& clock;
  const AnyBatch& batch;
  const at::Tensor& outputs;
};

// The loss is computed, the gradients are not.
struct LossEnd {
  const RunClock& clock;
  const AnyBatch& batch;
  const StepOutput& output;
};

struct BackwardEnd {
  const RunClock& clock;
  const StepOutput& output;
};

// The gradients of the whole window, averaged over ranks, are not yet clipped.
struct GradientsReady {
  const RunClock& clock;
  // The update will divide them by this: not 1 if batches weigh differently.
  double divisor = 1;
};

struct UpdateEnd {
  const RunClock& clock;
  // False if a gradient scaler skipped the update.
  bool updated;
  // Whether this is the update of an earlier window: on an accelerator, a
  // gradient scaler knows its outcome only then. It comes before the
  // GradientsReady of the next window, or before anything else that is due.
  bool late = false;
};

struct StepEnd {
  const RunClock& clock;
  const AnyBatch& batch;
  const StepOutput& output;
};

// The epoch's training metrics are in the history.
struct TrainEpochEnd {
  const RunClock& clock;
  RunHistory& history;
};

struct EvalStart {
  const RunClock& clock;
  // Name of the evaluation set; metrics are recorded as `<name>_<metric>`.
  const std::string& name;
  // Unset: unknown.
  std::optional<int64_t> num_batches;
  // As in RunStart. An evaluation outside of a run has it, too.
  Backend& backend;
};

struct EvalStepStart {
  const RunClock& clock;
  const AnyBatch& batch;
  // Of this evaluation, from 0.
  int64_t batch_idx;
};

struct EvalStepEnd {
  const RunClock& clock;
  const AnyBatch& batch;
  const StepOutput& output;
  // Of this evaluation, from 0.
  int64_t batch_idx;
};

// The evaluation's metrics are in the history.
struct EvalEnd {
  const RunClock& clock;
  const std::string& name;
  // With the set's name as prefix, e.g. "eval_loss".
  const Metrics& metrics;
};

struct EpochEnd {
  const RunClock& clock;
  RunHistory& history;
};

// A checkpoint is on the disk, or is being written in the background.
struct CheckpointSaved {
  const RunClock& clock;
  const std::string& path;
};

// The run resumes from this checkpoint; all parts have loaded their state.
struct CheckpointLoaded {
  const RunClock& clock;
  const std::string& path;
};

// Means of the training metrics since the last report, e.g. "train_loss".
struct MetricsReport {
  const RunClock& clock;
  const Metrics& metrics;
};

// The run ends because a stop was requested.
struct RunStopped {
  const RunClock& clock;
  const std::string& reason;
};

// The run ends because of SIGINT or SIGTERM.
struct RunCancelled {
  const RunClock& clock;
  const std::string& reason;
};

struct RunEnd {
  const RunClock& clock;
  const RunHistory& history;
  RunEnding ending;
  // The reason of a stop, the name of a signal, or the message of an error.
  const std::string& message;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EVENTS_H_

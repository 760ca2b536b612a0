// The moments of a run, each a struct that holds what is known then. An event
// is valid only during the call that receives it. Tensors are passed as they
// are, still on the device: reading one waits for the device, so read only what
// is needed.
//
// The history of an epoch's end takes what a callback has measured in it; all
// else is const.
//
// The loop fires them in this order (indented: once per turn of the loop above
// it):
//
//   InitEnd
//   CheckpointLoaded, if the run goes on from one
//   RunStart
//     EpochStart
//       StepStart, ForwardEnd, LossEnd, BackwardEnd
//         at a window's end: GradientsReady, UpdateEnd
//       StepEnd
//       what is due: evaluation, CheckpointSaved, Report
//     TrainEpochEnd
//     EvalStart, (EvalStepStart, EvalStepEnd)*, EvalEnd      per evaluation set
//     EpochEnd
//     what is due at an epoch's end: CheckpointSaved, Report
//   Stop or Cancel, if one of them ends the run
//   RunEnd                                                    always
#ifndef TRAINYARD_TRAINER_EVENTS_H_
#define TRAINYARD_TRAINER_EVENTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "trainer/run_config.h"
#include "trainer/step_state.h"

namespace at {
class Tensor;
}  // namespace at

namespace trainyard {

class AnyBatch;
class RunHistory;
struct StepOutput;

// Why a run ended.
enum class RunEnding { kFinished, kStopped, kCancelled, kError };

// By metric name, in name order.
using Metrics = std::map<std::string, double>;

// The trainer is built; nothing has run.
struct InitEnd {};

struct RunStart {
  const RunConfig& config;
  const StepState& state;
};

struct EpochStart {
  const RunConfig& config;
  const StepState& state;
  // Batches this epoch will have, unless the run ends before.
  int64_t num_batches;
};

struct StepStart {
  const StepState& state;
  const AnyBatch& batch;
};

// The model's outputs are there, the loss is not.
struct ForwardEnd {
  const StepState& state;
  const AnyBatch& batch;
  const at::Tensor& outputs;
};

// The loss is there, the gradients are not.
struct LossEnd {
  const StepState& state;
  const AnyBatch& batch;
  const StepOutput& output;
};

struct BackwardEnd {
  const StepState& state;
  const StepOutput& output;
};

// Gradients of the whole window, averaged over ranks and not yet clipped.
struct GradientsReady {
  const StepState& state;
  // What the update will divide them by, for windows of unequal batches.
  double divisor = 1;
};

struct UpdateEnd {
  const StepState& state;
  // False when a gradient scaler skipped the update.
  bool updated;
};

struct StepEnd {
  const StepState& state;
  const AnyBatch& batch;
  const StepOutput& output;
};

// The epoch's training metrics are in the history.
struct TrainEpochEnd {
  const StepState& state;
  RunHistory& history;
};

struct EvalStart {
  const StepState& state;
  // Name of the evaluation set; metrics are recorded as `<name>_<metric>`.
  const std::string& name;
  int64_t num_batches;
};

struct EvalStepStart {
  const StepState& state;
  const AnyBatch& batch;
};

struct EvalStepEnd {
  const StepState& state;
  const AnyBatch& batch;
  const StepOutput& output;
};

// The evaluation's metrics are in the history.
struct EvalEnd {
  const StepState& state;
  const std::string& name;
  // With the set's name as prefix, e.g. "eval_loss".
  const Metrics& metrics;
};

struct EpochEnd {
  const StepState& state;
  RunHistory& history;
};

// A checkpoint is safe on the disk, or is being written in the background.
struct CheckpointSaved {
  const StepState& state;
  const std::string& path;
};

// The run goes on from this checkpoint; all parts have their state.
struct CheckpointLoaded {
  const StepState& state;
  const std::string& path;
};

// Means of the training metrics since the last report, e.g. "train_loss".
struct Report {
  const StepState& state;
  const Metrics& metrics;
};

// A requested stop was taken up.
struct Stop {
  const StepState& state;
  const std::string& reason;
};

// SIGINT or SIGTERM was taken up.
struct Cancel {
  const StepState& state;
  const std::string& reason;
};

struct RunEnd {
  const StepState& state;
  const RunHistory& history;
  RunEnding ending;
  // The reason of a stop or cancel, or the error's message.
  const std::string& message;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EVENTS_H_

#include "trainer/loop/training_run.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "backends/own_stream.h"
#include "trainer/error_message.h"
#include "trainer/events.h"
#include "trainer/loop/check_models.h"
#include "trainer/loop/format1.h"
#include "trainer/loop/limit_batches.h"
#include "trainer/or_throw.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

// A dropped batch counts in no mean: it adds the names alone, which are then
// the same as on the ranks whose batch counts.
void AddOutput(MetricMeans& means, const StepOutput& output, bool dropped) {
  const double weight = dropped ? 0 : output.weight.value();
  if (!dropped && weight == 0) return;  // fully masked, or padding
  const auto add = [&](const std::string& name, const auto& value) {
    dropped ? means.AddNothing(name) : means.Add(name, value, weight);
  };
  if (output.loss.defined()) add("loss", output.loss);
  for (const auto& [name, value] : output.metrics) add(name, value);
}

std::vector<Optimizer*> Pointers(const std::vector<NamedOptimizer>& named) {
  std::vector<Optimizer*> pointers;
  for (const NamedOptimizer& item : named) pointers.push_back(item.optimizer);
  return pointers;
}

const TrainOptions& Checked(const TrainOptions& options,
                            const TrainingRun::Parts& parts) {
  CheckTrainOptions(options);
  CheckModels(parts.task.Models(), parts.optimizers);
  if (!options.checkpoint.directory.empty()) {
    parts.backend.collectives().SetRecordFolder(options.checkpoint.directory +
                                                "/records");
  }
  parts.backend.Prepare(parts.task.Models());
  for (const NamedOptimizer& item : parts.optimizers) {
    parts.backend.PrepareOptimizer(*item.optimizer);
  }
  return options;
}

}  // namespace

TrainingRun::TrainingRun(const Parts& parts, const TrainOptions& options)
    : parts_(parts),
      options_(Checked(options, parts)),
      reader_(MakeTrainSource(), parts.backend.collectives()),
      evaluator_({parts.task, parts.backend, parts.callbacks, &parts.history},
                 {.max_batches = LimitBatches(options.max_eval_batches)}),
      config_(
          (AddEvalSets(), MakeRunConfig(options, parts.backend,
                                        {.train = reader_.batches_per_epoch(),
                                         .eval = evaluator_.num_batches()}))),
      clock_({.grad_accum_steps = config_.grad_accum_steps,
              .num_processes = config_.num_processes,
              .total_batch_size = config_.total_batch_size}),
      captured_(MakeCapturedStep()),
      steps_(MakeStepRunner()),
      gradients_(parts.task),
      state_(parts.backend),
      evaluation_(options.evaluate),
      checkpoint_(options.checkpoint.save),
      report_(options.report),
      needs_seconds_(evaluation_.needs_seconds() ||
                     checkpoint_.needs_seconds() || report_.needs_seconds()),
      epoch_limit_(LimitBatches(options.max_batches_per_epoch)) {
  evaluator_.CheckPrefixes();
  if (options_.handle_signals) {
    cancellation_.emplace(CancellationFromEnvironment(options_.cancellation));
  }
  if (options_.checkpoint.enabled()) {
    checkpoints_.emplace(options_.checkpoint, parts_.backend);
  }
  AddSchedules(config_.total_updates);
  for (const NamedOptimizer& item : parts_.optimizers) {
    item.optimizer->ZeroGrad();
  }
  // The means are read on all ranks, also for a listener on one of them.
  reports_heard_ =
      !options_.report.never() &&
      parts_.backend.collectives().Any(parts_.callbacks.Hears<MetricsReport>());
  RegisterState();
  if (options_.reset_history) parts_.history.Reset();
  parts_.control.Reset();
}

std::unique_ptr<CapturedStep> TrainingRun::MakeCapturedStep() const {
  if (!options_.capture_after_steps) return nullptr;
  return std::make_unique<CapturedStep>(
      CapturedStep::Parts{parts_.task, Pointers(parts_.optimizers),
                          parts_.backend},
      *options_.capture_after_steps);
}

StepRunner TrainingRun::MakeStepRunner() {
  return StepRunner(
      {parts_.task, Pointers(parts_.optimizers), parts_.backend,
       parts_.callbacks, clock_,
       [this] { return RankNote{RequestedHere(), clock_.Elapsed()}; },
       captured_.get()},
      options_.clip, &schedules_);
}

Optimizer& TrainingRun::FindOptimizer(const std::string& name) const {
  if (name.empty()) return *parts_.optimizers.front().optimizer;
  std::string names;
  for (const NamedOptimizer& item : parts_.optimizers) {
    if (item.name == name) return *item.optimizer;
    names += " \"" + item.name + "\"";
  }
  C10_THROW_ERROR(ValueError, "Train: a schedule is for the optimizer \"" +
                                  name + "\"; there is" + names);
}

void TrainingRun::AddSchedules(int64_t total_updates) {
  const std::optional<int64_t> per_epoch = config_.updates_per_epoch;
  RunLength length{.updates_per_epoch = per_epoch,
                   .total_updates = total_updates,
                   .batches_per_epoch = config_.batches_per_epoch,
                   .eval_batches = config_.eval_batches};
  if (per_epoch) {
    length.num_epochs = (total_updates + *per_epoch - 1) / *per_epoch;
  }
  schedules_.Add({.schedule = options_.schedule}, FindOptimizer(""), length);
  for (const FieldSchedule& item : options_.schedules) {
    TORCH_CHECK_VALUE(per_epoch || (item.step_on != StepOn::kBatch &&
                                    item.step_on != StepOn::kEpoch),
                      "Train: the schedule of \"", item.field,
                      "\" steps by batches or epochs, but the length of the "
                      "training data is unknown; set step_on to kUpdate");
    schedules_.Add(item, FindOptimizer(item.optimizer), length);
  }
  TORCH_CHECK_VALUE(!schedules_.has_metric_schedules() ||
                        (!evaluator_.empty() && !options_.evaluate.never()),
                    "Train: a schedule watches a metric, but nothing is "
                    "evaluated; set eval_data and evaluate");
}

RunResult TrainingRun::Run() {
  // The default stream cannot be captured.
  std::optional<OwnStream> stream;
  if (captured_ != nullptr) stream.emplace(parts_.backend.device());
  try {
    parts_.callbacks.FireInitEnd();
    RunEpochs();
  } catch (const std::exception& e) {
    ending_ = RunEnding::kError;
    message_ = ErrorMessage(e);
    parts_.backend.collectives().Abandon(message_);
    FireRunEnd();  // what it throws is a consequence of the error rethrown here
    throw;
  }
  if (const std::exception_ptr error = FireRunEnd()) {
    std::rethrow_exception(error);
  }
  const double seconds = clock_.Elapsed() - seconds_before_;
  return {.ending = ending_,
          .message = message_,
          .clock = clock_,
          .samples = clock_.samples() - samples_before_,
          .seconds = seconds,
          .train_seconds = seconds - eval_seconds_};
}

void TrainingRun::RunEpochs() {
  RestoreLatest();
  const bool finished = Finished();
  if (finished) {
    message_ = "the checkpoint is from a finished run; nothing left to train";
  }
  parts_.callbacks.Fire(RunStart{config_, clock_, resumed_, parts_.backend});
  if (options_.evaluate_at_start && !resumed_ && !evaluator_.empty()) {
    Evaluate();
  }
  // The checkpoint may have been saved between two due actions. After the last
  // batch of an epoch, before its end, nothing is due.
  const bool between_steps = clock_.epoch_batches() == 0 ||
                             (EpochBatchesLeft() > 0 && reader_.HasNext());
  if (resumed_ && !finished && between_steps && RunDueActions()) {
    return EndEarly();
  }
  while (!Finished()) {
    if (!RunEpoch()) return EndEarly();
  }
  if (!options_.evaluate.never() && !evaluation_.DoneAt(clock_)) {
    if (checkpoints_) state_.MarkEnd();
    Evaluate();
  }
  FinishRun(/*finished=*/true, /*save=*/true);
}

int64_t TrainingRun::EpochBatchesLeft() const {
  const int64_t done = clock_.epoch_batches();
  const int64_t accum = clock_.grad_accum_steps();
  const int64_t updates_left = config_.total_updates - clock_.updates();
  int64_t left = updates_left * accum - done % accum;
  if (const auto known = reader_.batches_left()) left = std::min(left, *known);
  if (epoch_limit_) left = std::min(left, *epoch_limit_ - done);
  return left;
}

bool TrainingRun::RunEpoch() {
  // Not 0 if the run was resumed within an epoch.
  const int64_t done = clock_.epoch_batches();
  if (done == 0) {
    epoch_means_.Reset();
    reader_.StartEpoch(clock_.epoch());
    clock_.StartEpoch();
  }
  const int64_t batches = EpochBatchesLeft();
  bool more = batches > 0 && reader_.HasNext();
  TORCH_CHECK_VALUE(more || batches == 0 || done > 0, "Train: epoch ",
                    clock_.epoch() + 1,
                    " has no batches: the source of batches is empty");
  parts_.task.SetTraining(true);
  std::optional<int64_t> announced;
  if (reader_.batches_left()) announced = done + batches;
  parts_.callbacks.Fire(EpochStart{config_, clock_, announced});
  bool ended = ShouldEnd();
  for (int64_t left = batches; more && !ended; --left) {
    more = !RunStep(left);
    // After the last batch, the epoch is counted before anything is due.
    ended = more ? RunDueActions() : ShouldEnd();
  }
  steps_.ReadOutcomes();
  requested_.reset();
  if (ended) return false;
  if (checkpoints_ && EpochIsCut()) state_.MarkEnd();
  RecordEpochMeans();
  schedules_.Step(StepOn::kEpoch);
  parts_.callbacks.Fire(TrainEpochEnd{clock_, parts_.history});
  clock_.CountEpoch();
  if (!evaluator_.empty() && evaluation_.Due(clock_)) Evaluate();
  parts_.callbacks.Fire(EpochEnd{clock_, parts_.history});
  parts_.history.IncrementEpoch();
  clock_.EndEpoch();
  // The end of the run has an order of its own, and no stop is needed there.
  return Finished() || !RunDueActions();
}

bool TrainingRun::RunStep(int64_t batches_left) {
  if (checkpoints_ && clock_.grad_accum_steps() > 1 && clock_.StartsWindow()) {
    state_.MarkWindowStart();
  }
  const int64_t position = reader_.position();
  const AnyBatch batch = reader_.Next().To(parts_.backend.device());
  const bool last = batches_left == 1 || !reader_.HasNext();
  const StepOutput output =
      steps_.Run(batch, last ? 1 : batches_left, reader_.position() - position);
  AddMeans(output);
  if (steps_.update_dropped()) HandleDroppedUpdate();
  if (parts_.backend.num_processes() > 1) ReadNotes();
  return last;
}

void TrainingRun::AddMeans(const StepOutput& output) {
  const bool dropped = steps_.batch_dropped();
  AddOutput(epoch_means_, output, dropped);
  if (reports_heard_) AddOutput(report_means_, output, dropped);
}

void TrainingRun::RecordEpochMeans() {
  for (const auto& [name, value] : epoch_means_.Read(parts_.backend)) {
    parts_.history.Update("train_" + name, value);
  }
}

void TrainingRun::HandleDroppedUpdate() {
  const std::optional<StepRunner::BadLoss>& bad = steps_.bad_loss();
  if (!bad) return;  // the rank with the bad loss does it
  const std::string what =
      c10::str("loss is ", bad->value, " in epoch ", clock_.epoch() + 1,
               ", batch ", bad->batch, "; its update was not applied");
  if (steps_.dropped_in_a_row() > options_.max_dropped_updates) {
    parts_.control.RequestStopAndDiscard(what);
  } else {
    LOG(WARNING) << what << " (" << steps_.dropped_in_a_row() << " of "
                 << options_.max_dropped_updates << " in a row)";
  }
}

bool TrainingRun::RunDueActions() {
  // A run whose loss is not finite ends as it is.
  if (steps_.update_dropped() && ShouldEnd()) return true;
  if (steps_.outcome_is_open()) {
    RunClock if_updated = clock_;
    if_updated.CountUpdate();
    if (evaluation_.Due(if_updated) || checkpoint_.Due(if_updated) ||
        report_.Due(if_updated)) {
      steps_.ReadOutcomes();
    }
  }
  if (!evaluator_.empty() && evaluation_.Due(clock_)) {
    Evaluate();
    parts_.task.SetTraining(true);
    if (ShouldEnd()) return true;
  }
  if (checkpoint_.Due(clock_)) SaveCheckpoint(/*finished=*/false);
  if (report_.Due(clock_)) ReportMeans();
  if (!AnyRequested()) return false;
  steps_.ReadOutcomes();
  RunRequestedActions();
  return ShouldEnd();
}

void TrainingRun::Evaluate() {
  const double start = clock_.Elapsed();
  const Metrics& metrics = evaluator_.Evaluate(clock_);
  if (!evaluator_.empty()) schedules_.Observe(metrics);
  evaluation_.Done(clock_);
  requested_.reset();
  eval_seconds_ += clock_.Elapsed() - start;
}

void TrainingRun::ReportMeans() {
  report_.Done(clock_);
  if (!reports_heard_) return;
  Metrics metrics;
  for (const auto& [name, value] : report_means_.Read(parts_.backend)) {
    metrics["train_" + name] = value;
  }
  report_means_.Reset();
  parts_.callbacks.Fire(MetricsReport{clock_, metrics});
  requested_.reset();
}

}  // namespace trainyard

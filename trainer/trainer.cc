#include "trainer/trainer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/gather_text.h"
#include "callbacks/other_weights.h"
#include "tracking/metrics.h"
#include "trainer/error_message.h"
#include "trainer/loop/check_models.h"
#include "trainer/loop/evaluation.h"
#include "trainer/loop/limit_batches.h"
#include "trainer/loop/step_runner.h"
#include "trainer/schedule_set.h"
#include "trainer/trainer_run.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

void AddMeans(MetricMeans& means, const StepOutput& output) {
  const double weight = output.weight.value();
  // Masked entirely, or of padding only, for others to keep step.
  if (weight == 0) return;
  if (output.loss.defined()) means.Add("loss", output.loss, weight);
  for (const auto& [name, value] : output.metrics) {
    means.Add(name, value, weight);
  }
}

// For a batch that does not count.
void AddNames(MetricMeans& means, const StepOutput& output) {
  if (output.loss.defined()) means.AddNothing("loss");
  for (const auto& [name, value] : output.metrics) means.AddNothing(name);
}

}  // namespace

Trainer::Trainer(std::unique_ptr<Task> task, Optimizer& optimizer,
                 Backend& backend)
    : Trainer(std::move(task), &optimizer, backend) {}

Trainer::Trainer(std::unique_ptr<Task> task, Backend& backend)
    : Trainer(std::move(task), nullptr, backend) {}

Trainer::Trainer(std::unique_ptr<Task> task, Optimizer* optimizer,
                 Backend& backend)
    : task_(std::move(task)), backend_(backend), callbacks_(control_) {
  TORCH_CHECK_VALUE(task_ != nullptr, "Trainer: there is no task");
  if (optimizer != nullptr) optimizers_.push_back({"optimizer", optimizer});
  for (const NamedOptimizer& own : task_->optimizers()) {
    TORCH_CHECK_VALUE(own.name != "optimizer" && own.optimizer != optimizer,
                      "Trainer: optimizer \"", own.name,
                      "\" is the task's and is given to the trainer, too; use "
                      "Trainer(task, backend)");
    optimizers_.push_back(own);
  }
  TORCH_CHECK_VALUE(!optimizers_.empty(),
                    "Trainer: there is no optimizer; give it one, or let the "
                    "task call AddOptimizer");
  task_->To(backend_.device());
  // The task's methods come before all callbacks.
  if (auto* callback = dynamic_cast<Callback*>(task_.get())) {
    callbacks_.Add(*callback, {.priority = std::numeric_limits<int>::min()});
  }
}

Optimizer& Trainer::FindOptimizer(const std::string& name) const {
  if (name.empty()) return *optimizers_.front().optimizer;
  std::string names;
  for (const NamedOptimizer& item : optimizers_) {
    if (item.name == name) return *item.optimizer;
    names += " \"" + item.name + "\"";
  }
  C10_THROW_ERROR(ValueError, "Train: a schedule is for the optimizer \"" +
                                  name + "\"; there is" + names);
}

void Trainer::AddSchedules(Run& run) {
  const RunLength length{.num_epochs = run.config.num_epochs,
                         .updates_per_epoch = run.config.updates_per_epoch,
                         .total_updates = run.config.max_updates,
                         .batches_per_epoch = run.config.batches_per_epoch,
                         .eval_batches = run.config.eval_batches};
  run.schedules.Add({.schedule = run.options.schedule}, FindOptimizer(""),
                    length);
  for (const FieldSchedule& item : run.options.schedules) {
    run.schedules.Add(item, FindOptimizer(item.optimizer), length);
  }
  TORCH_CHECK_VALUE(!run.schedules.has_metric_schedules() ||
                        (!run.evals.empty() && !run.options.evaluate.never()),
                    "Train: a schedule watches a metric, but nothing is "
                    "evaluated; set eval_data and evaluate");
}

// Callbacks are added after construction: its end is told before the first run.
void Trainer::FireInitEnd() {
  if (init_end_fired_) return;
  init_end_fired_ = true;
  callbacks_.Fire(InitEnd{});
}

RunResult Trainer::Train(const TrainOptions& options) {
  CheckTrainOptions(options);
  CheckModels(task_->Models(), optimizers_);
  CheckPrefixes(callbacks_);
  backend_.Prepare(task_->Models());
  Run run(options, *task_, backend_);
  AddSchedules(run);
  run.result.state = {.grad_accum_steps = run.config.grad_accum_steps,
                      .num_processes = run.config.num_processes};
  StepRunner::Parts parts{*task_, {}, backend_, callbacks_, run.result.state};
  for (const NamedOptimizer& item : optimizers_) {
    parts.optimizers.push_back(item.optimizer);
    item.optimizer->ZeroGrad();
  }
  run.steps.emplace(std::move(parts), options.clip, &run.schedules);
  // Reports are read from all processes, also for a listener on one of them.
  run.reports = !options.report.never() &&
                backend_.collectives().Any(callbacks_.Hears<Report>());
  if (options.reset_history) history_->Reset();
  control_.Reset();
  try {
    FireInitEnd();
    RunEpochs(run);
  } catch (const std::exception& e) {
    run.result.ending = RunEnding::kError;
    run.result.message = ErrorMessage(e);
    backend_.collectives().Abandon(run.result.message);
    EndRun(run);  // what it throws now is a consequence; the cause is thrown on
    throw;
  }
  if (const std::exception_ptr error = EndRun(run)) {
    std::rethrow_exception(error);
  }
  return run.result;
}

void Trainer::RunEpochs(Run& run) {
  ResumeIfAsked(run);
  const int64_t num_epochs = run.config.num_epochs;
  if (run.result.state.epoch >= num_epochs) {
    run.result.message = "the run was finished before; there is nothing to do";
  }
  callbacks_.Fire(RunStart{run.config, run.result.state});
  if (run.report_due) ReportMeans(run);
  while (run.result.state.epoch < num_epochs) {
    if (!RunEpoch(run)) return EndEarly(run);
  }
  if (!run.options.evaluate.never() &&
      run.evaluated_at != run.progress.batches) {
    EvaluateAll(run);
  }
  DoLastThings(run, /*finished=*/true);
}

bool Trainer::RunEpoch(Run& run) {
  StepState& state = run.result.state;
  // Not 0 in an epoch in whose middle the run was saved.
  const int64_t done = state.batch_idx;
  if (done == 0) {
    run.epoch_means.Reset();
    run.loader.StartEpoch(state.epoch);
  }
  const int64_t updates_left = run.config.max_updates - state.optimizer_step;
  const int64_t batches = std::min(
      {*run.loader.batches_left(), run.config.batches_per_epoch - done,
       updates_left * state.grad_accum_steps - done % state.grad_accum_steps});
  task_->SetTraining(true);
  callbacks_.Fire(EpochStart{run.config, state, done + batches});
  if (done == 0) run.before = run.progress;
  bool ended = ShouldEnd(run);
  for (int64_t left = batches; left > 0 && !ended; --left) {
    run.before = run.progress;
    RunStep(run, left);
    // After the last batch the epoch is counted first.
    ended = left > 1 ? DoWhatIsDue(run) : ShouldEnd(run);
  }
  if (ended) return false;
  RecordEpochMeans(run);
  run.schedules.Step(StepOn::kEpoch);
  callbacks_.Fire(TrainEpochEnd{state, *history_});
  ++run.progress.epochs;
  EvaluateIfDue(run);
  callbacks_.Fire(EpochEnd{state, *history_});
  history_->IncrementEpoch();
  ++state.epoch;
  state.ResetEpoch();
  // The end of the run has an order of its own, and a stop asked for there has
  // nothing left to stop.
  return state.epoch == run.config.num_epochs || !DoWhatIsDue(run);
}

void Trainer::RecordEpochMeans(Run& run) {
  for (const auto& [name, value] : run.epoch_means.Read(backend_)) {
    history_->Update("train_" + name, value);
  }
}

void Trainer::RunStep(Run& run, int64_t batches_left) {
  if (run.checkpoints && run.config.grad_accum_steps > 1 &&
      run.result.state.batch_idx % run.config.grad_accum_steps == 0) {
    run.window_start = {CollectPosition(run), run.epoch_means,
                        run.report_means};
  }
  const int64_t position = run.loader.position();
  const AnyBatch batch = run.loader.Next()->To(backend_.device());
  const StepOutput output =
      run.steps->Run(batch, batches_left, run.loader.position() - position);
  const auto add = run.steps->batch_dropped() ? AddNames : AddMeans;
  add(run.epoch_means, output);
  if (run.reports) add(run.report_means, output);
  if (run.steps->update_dropped()) StopOrGoOnAfterDrop(run);
  ++run.progress.batches;
  run.progress.updates = run.result.state.optimizer_step;
  run.progress.samples = run.result.state.samples_seen;
  run.progress.seconds = run.AgreedSeconds(backend_);
}

void Trainer::StopOrGoOnAfterDrop(const Run& run) {
  const std::optional<StepRunner::BadLoss>& bad = run.steps->bad_loss();
  if (!bad) return;  // another process tells
  const std::string what =
      c10::str("loss is ", bad->value, " in epoch ", run.result.state.epoch + 1,
               ", batch ", bad->batch, "; its update was not applied");
  if (run.steps->dropped_in_a_row() > run.options.max_dropped_updates) {
    control_.RequestStopAndDiscard(what);
  } else {
    LOG(WARNING) << what << " (" << run.steps->dropped_in_a_row() << " of "
                 << run.options.max_dropped_updates << " in a row)";
  }
}

bool Trainer::DoWhatIsDue(Run& run) {
  // A run that has gone wrong ends as it is.
  if (run.steps->update_dropped() && ShouldEnd(run)) return true;
  const int64_t now = run.progress.batches;
  if (run.evaluated_at != now) {
    EvaluateIfDue(run);
    if (run.evaluated_at == now) {
      task_->SetTraining(true);
      if (ShouldEnd(run)) return true;
    }
  }
  run.report_due = run.reported_at != now &&
                   run.options.report.Due(run.before, run.progress);
  if (run.saved_at != now &&
      run.options.checkpoint.every.Due(run.before, run.progress)) {
    SaveCheckpoint(run, /*finished=*/false);
  }
  if (run.report_due) ReportMeans(run);
  return ShouldEnd(run);
}

void Trainer::DoLastThings(Run& run, bool finished, bool save) {
  if (save && run.saved_at != run.progress.batches) {
    SaveCheckpoint(run, finished);
  }
  if (run.checkpoints) run.checkpoints->Finish();
  if (run.reported_at != run.progress.batches) ReportMeans(run);
}

void Trainer::EvaluateIfDue(Run& run) {
  if (!run.evals.empty() &&
      run.options.evaluate.Due(run.before, run.progress)) {
    EvaluateAll(run);
  }
}

void Trainer::EvaluateAll(Run& run) {
  const double start = run.SecondsSinceStart();
  task_->SetTraining(false);
  run.eval_metrics.clear();
  EvaluateSets(run, "");
  for (OtherWeights* others : callbacks_.FindAll<OtherWeights>()) {
    if (!others->wanted()) continue;
    const OtherWeights::Use use(*others);
    EvaluateSets(run, others->prefix() + "_");
  }
  if (!run.evals.empty()) run.schedules.Observe(run.eval_metrics);
  run.evaluated_at = run.progress.batches;
  run.eval_seconds += run.SecondsSinceStart() - start;
}

void Trainer::EvaluateSets(Run& run, const std::string& prefix) {
  for (Run::Eval& eval : run.evals) {
    const std::string name = prefix + eval.name;
    const Metrics metrics = trainyard::Evaluate(
        {*task_, backend_, callbacks_, run.result.state}, eval.loader,
        {.name = name,
         .max_batches = LimitBatches(run.options.max_eval_batches)});
    for (const auto& [metric, value] : metrics) {
      history_->Update(metric, value);
    }
    callbacks_.Fire(EvalEnd{run.result.state, name, metrics});
    run.eval_metrics.insert(metrics.begin(), metrics.end());
  }
}

void Trainer::ReportMeans(Run& run) {
  run.reported_at = run.progress.batches;
  run.report_due = false;
  if (!run.reports) return;
  Metrics metrics;
  for (const auto& [name, value] : run.report_means.Read(backend_)) {
    metrics["train_" + name] = value;
  }
  run.report_means.Reset();
  callbacks_.Fire(Report{run.result.state, metrics});
}

bool Trainer::ShouldEnd(const Run& run) {
  return backend_.collectives().Any(
      control_.stop_requested() ||
      (run.cancellation && run.cancellation->requested()));
}

void Trainer::EndEarly(Run& run) {
  const bool discard = backend_.collectives().Any(control_.discard_requested());
  DoLastThings(run, /*finished=*/false, /*save=*/!discard);
  // After the checkpoint: a resumed run completes the epoch and records it
  // then.
  if (run.result.state.batch_idx > 0) RecordEpochMeans(run);
  const auto [cancelled, reason] = ReasonOfAll(run);
  run.result.message = reason;
  if (cancelled) {
    run.result.ending = RunEnding::kCancelled;
    callbacks_.Fire(Cancel{run.result.state, run.result.message});
  } else {
    run.result.ending = RunEnding::kStopped;
    callbacks_.Fire(Stop{run.result.state, run.result.message});
  }
}

// Why a run ends early may be known to one process only.
std::pair<bool, std::string> Trainer::ReasonOfAll(const Run& run) {
  constexpr char kCancelled = 'c', kStopped = 's';
  std::string mine;
  if (run.cancellation && run.cancellation->requested()) {
    mine = kCancelled + std::string(run.cancellation->signal_name());
  } else if (control_.stop_requested()) {
    mine = kStopped + control_.reason();
  }
  std::string first;
  for (const std::string& reason : GatherText(backend_.collectives(), mine)) {
    if (reason.empty()) continue;
    // A signal goes before what a callback asked for.
    if (first.empty() || (first[0] == kStopped && reason[0] == kCancelled)) {
      first = reason;
    }
  }
  return {first[0] == kCancelled, first.substr(1)};
}

std::exception_ptr Trainer::EndRun(Run& run) {
  run.result.samples = run.progress.samples - run.samples_before;
  run.result.seconds = run.SecondsSinceStart() - run.seconds_before;
  run.result.train_seconds = run.result.seconds - run.eval_seconds;
  run.schedules.Restore();
  return callbacks_.FireToAll(RunEnd{run.result.state, *history_,
                                     run.result.ending, run.result.message});
}

Metrics Trainer::Evaluate(DatasetPtr data, int64_t per_device_batch_size) {
  TORCH_CHECK_VALUE(data != nullptr, "Evaluate: there is no data");
  TORCH_CHECK_VALUE(data->size() > 0,
                    "Evaluate: the data is empty: it has no samples");
  TORCH_CHECK_VALUE(per_device_batch_size >= 1,
                    "Evaluate: per_device_batch_size is ",
                    per_device_batch_size, "; it must be at least 1");
  const std::string name = "evaluation";
  Loader loader = task_->EvalLoader(
      EvalRequest(*task_, backend_, data, per_device_batch_size));
  const StepState state{.num_processes = backend_.num_processes()};
  FireInitEnd();
  task_->SetTraining(false);
  const Metrics metrics =
      trainyard::Evaluate({*task_, backend_, callbacks_, state}, loader,
                          {.name = name, .max_batches = LimitBatches(0)});
  callbacks_.Fire(EvalEnd{state, name, metrics});
  return metrics;
}

}  // namespace trainyard

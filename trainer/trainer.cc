#include "trainer/trainer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "tracking/metrics.h"
#include "trainer/cancellation.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/error_message.h"
#include "trainer/evaluation.h"
#include "trainer/limit_batches.h"
#include "trainer/optim/scheduled_field.h"
#include "trainer/step_runner.h"

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Loader TrainLoader(const TrainOptions& options) {
  return {options.data,
          std::make_shared<ShuffledSampler>(options.data->size(), options.seed),
          {.batch_size = options.per_device_batch_size}};
}

Loader EvalLoader(const DatasetPtr& data, int64_t batch_size) {
  return {data,
          std::make_shared<SequentialSampler>(data->size()),
          {.batch_size = batch_size}};
}

struct EvalRun {
  std::string name;
  Loader loader;
};

std::vector<EvalRun> EvalRuns(const TrainOptions& options, int64_t batch_size) {
  std::vector<EvalRun> runs;
  if (options.eval_data != nullptr) {
    runs.push_back({"eval", EvalLoader(options.eval_data, batch_size)});
  }
  for (const EvalSet& set : options.eval_sets) {
    runs.push_back({set.name, EvalLoader(set.data, batch_size)});
  }
  return runs;
}

}  // namespace

// What lives as long as one call of Train.
struct Trainer::Run {
  Run(const TrainOptions& run_options, const Backend& backend)
      : options(run_options),
        config(MakeRunConfig(options, backend)),
        loader(TrainLoader(options)),
        evals(EvalRuns(options, config.eval_per_device_batch_size)) {
    if (options.handle_signals) cancellation.emplace();
  }

  void AddSchedule(Optimizer& optimizer, const std::string& field,
                   const GroupSchedules& schedule) {
    if (schedule.empty()) return;
    fields.emplace_back(optimizer, field, schedule,
                        RunLength{.num_epochs = config.num_epochs,
                                  .updates_per_epoch = config.updates_per_epoch,
                                  .total_updates = config.max_updates});
  }

  const TrainOptions& options;
  const RunConfig config;
  Loader loader;
  std::vector<EvalRun> evals;
  std::vector<ScheduledField> fields;
  std::optional<StepRunner> steps;
  std::optional<Cancellation> cancellation;
  const Clock::time_point start = Clock::now();

  RunResult result;
  Progress progress;
  // Where the last evaluation was made; -1: nowhere.
  int64_t evaluated_at_batch = -1;
  double eval_seconds = 0;
  MetricMeans epoch_means;
};

Trainer::Trainer(std::unique_ptr<Task> task, Optimizer& optimizer,
                 Backend& backend)
    : task_(std::move(task)),
      optimizer_(optimizer),
      backend_(backend),
      callbacks_(control_) {
  TORCH_CHECK_VALUE(task_ != nullptr, "Trainer: there is no task");
  task_->To(backend_.device());
}

// Callbacks are added after construction: its end is told before the first run.
void Trainer::FireInitEnd() {
  if (init_end_fired_) return;
  init_end_fired_ = true;
  callbacks_.Fire(InitEnd{});
}

RunResult Trainer::Train(const TrainOptions& options) {
  CheckTrainOptions(options);
  backend_.Prepare(task_->Models());
  Run run(options, backend_);
  run.AddSchedule(optimizer_, "lr", options.schedule);
  for (const FieldSchedule& item : options.schedules) {
    run.AddSchedule(optimizer_, item.field, item.schedule);
  }
  for (ScheduledField& field : run.fields) field.Apply(0);
  run.result.state = {.grad_accum_steps = run.config.grad_accum_steps,
                      .num_processes = run.config.num_processes};
  run.steps.emplace(StepRunner::Parts{*task_, optimizer_, backend_, callbacks_,
                                      run.result.state},
                    options.clip, run.fields);
  history_.Reset();
  control_.Reset();
  optimizer_.ZeroGrad();
  try {
    FireInitEnd();
    RunEpochs(run);
  } catch (const std::exception& e) {
    run.result.ending = RunEnding::kError;
    run.result.message = ErrorMessage(e);
    EndRun(run);  // what it throws now is a consequence; the cause is thrown on
    throw;
  }
  if (const std::exception_ptr error = EndRun(run)) {
    std::rethrow_exception(error);
  }
  return run.result;
}

void Trainer::RunEpochs(Run& run) {
  callbacks_.Fire(RunStart{run.config, run.result.state});
  while (run.result.state.epoch < run.config.num_epochs) {
    if (!RunEpoch(run)) return EndEarly(run);
  }
  if (!run.options.evaluate.never() &&
      run.evaluated_at_batch != run.progress.batches) {
    EvaluateAll(run);
  }
}

bool Trainer::RunEpoch(Run& run) {
  StepState& state = run.result.state;
  const int64_t updates_left = run.config.max_updates - state.optimizer_step;
  const int64_t batches = std::min(run.config.batches_per_epoch,
                                   updates_left * state.grad_accum_steps);
  run.epoch_means.Reset();
  task_->SetTraining(true);
  callbacks_.Fire(EpochStart{run.config, state, batches});
  run.loader.StartEpoch(state.epoch);
  Progress before = run.progress;
  bool ended = ShouldEnd(run);
  for (int64_t left = batches; left > 0 && !ended; --left) {
    before = run.progress;
    RunStep(run, left);
    if (left > 1) {  // after the last batch the epoch is counted first
      EvaluateIfDue(run, before);
      task_->SetTraining(true);
    }
    ended = ShouldEnd(run);
  }
  for (const auto& [name, value] : run.epoch_means.Read()) {
    history_.Update("train_" + name, value);
  }
  if (ended) return false;
  callbacks_.Fire(TrainEpochEnd{state, history_});
  ++run.progress.epochs;
  EvaluateIfDue(run, before);
  callbacks_.Fire(EpochEnd{state, history_});
  history_.IncrementEpoch();
  ++state.epoch;
  state.ResetEpoch();
  // A stop asked for at the very end has nothing left to stop.
  return state.epoch == run.config.num_epochs || !ShouldEnd(run);
}

void Trainer::RunStep(Run& run, int64_t batches_left) {
  const AnyBatch batch = run.loader.Next()->To(backend_.device());
  const StepOutput output = run.steps->Run(batch, batches_left);
  if (output.loss.defined()) {
    run.epoch_means.Add("loss", output.loss, output.weight);
  }
  for (const auto& [name, value] : output.metrics) {
    run.epoch_means.Add(name, value, output.weight);
  }
  ++run.progress.batches;
  run.progress.updates = run.result.state.optimizer_step;
  run.progress.samples = run.result.state.samples_seen;
  run.progress.seconds = SecondsSince(run.start);
}

void Trainer::EvaluateIfDue(Run& run, const Progress& before) {
  if (!run.evals.empty() && run.options.evaluate.Due(before, run.progress)) {
    EvaluateAll(run);
  }
}

void Trainer::EvaluateAll(Run& run) {
  const Clock::time_point start = Clock::now();
  task_->SetTraining(false);
  for (EvalRun& eval : run.evals) {
    const Metrics metrics = trainyard::Evaluate(
        {*task_, backend_, callbacks_, run.result.state}, eval.loader,
        {.name = eval.name,
         .max_batches = LimitBatches(run.options.max_eval_batches)});
    for (const auto& [name, value] : metrics) history_.Update(name, value);
    callbacks_.Fire(EvalEnd{run.result.state, eval.name, metrics});
  }
  run.evaluated_at_batch = run.progress.batches;
  run.eval_seconds += SecondsSince(start);
}

bool Trainer::ShouldEnd(const Run& run) {
  return backend_.collectives().Any(
      control_.stop_requested() ||
      (run.cancellation && run.cancellation->requested()));
}

void Trainer::EndEarly(Run& run) {
  if (run.cancellation && run.cancellation->requested()) {
    run.result.ending = RunEnding::kCancelled;
    run.result.message = run.cancellation->signal_name();
    callbacks_.Fire(Cancel{run.result.state, run.result.message});
  } else {
    run.result.ending = RunEnding::kStopped;
    run.result.message = control_.reason();
    callbacks_.Fire(Stop{run.result.state, run.result.message});
  }
}

std::exception_ptr Trainer::EndRun(Run& run) {
  run.result.seconds = SecondsSince(run.start);
  run.result.train_seconds = run.result.seconds - run.eval_seconds;
  for (ScheduledField& field : run.fields) field.Restore();
  return callbacks_.FireToAll(RunEnd{run.result.state, history_,
                                     run.result.ending, run.result.message});
}

Metrics Trainer::Evaluate(DatasetPtr data, int64_t per_device_batch_size) {
  TORCH_CHECK_VALUE(data != nullptr, "Evaluate: there is no data");
  const std::string name = "evaluation";
  Loader loader = EvalLoader(data, per_device_batch_size);
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

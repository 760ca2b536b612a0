#include "trainer/trainer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "tracking/metrics.h"
#include "trainer/data/sampler.h"
#include "trainer/evaluation.h"
#include "trainer/optim/scheduled_field.h"

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Check(const TrainOptions& options) {
  TORCH_CHECK_VALUE(options.data != nullptr, "Train: there is no data");
  TORCH_CHECK_VALUE(options.num_epochs >= 0, "Train: num_epochs is ",
                    options.num_epochs, "; it must not be negative");
  TORCH_CHECK_VALUE(options.max_updates >= 0, "Train: max_updates is ",
                    options.max_updates, "; it must not be negative");
  TORCH_CHECK_VALUE(
      options.num_epochs > 0 || options.max_updates > 0,
      "Train: set num_epochs or max_updates, or the run would not end");
  TORCH_CHECK_VALUE(options.per_device_batch_size >= 1,
                    "Train: per_device_batch_size is ",
                    options.per_device_batch_size, "; it must be at least 1");
  TORCH_CHECK_VALUE(options.eval_per_device_batch_size >= 0,
                    "Train: eval_per_device_batch_size is ",
                    options.eval_per_device_batch_size,
                    "; it must not be negative");
  TORCH_CHECK_VALUE(options.grad_accum_steps >= 1,
                    "Train: grad_accum_steps is ", options.grad_accum_steps,
                    "; it must be at least 1");
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

}  // namespace

// What lives as long as one call of Train.
struct Trainer::Run {
  RunConfig config;
  Loader loader;
  std::optional<Loader> eval_loader = std::nullopt;
  std::unique_ptr<Schedule> schedule = nullptr;
  std::optional<ScheduledField> scheduled_lr = std::nullopt;
  std::optional<StepRunner> steps = std::nullopt;
  RunResult result = {};
  Clock::time_point start = Clock::now();
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

RunConfig Trainer::MakeConfig(const TrainOptions& options,
                              const Loader& loader) const {
  RunConfig config{
      .backend = backend_.name(),
      .device = backend_.device().str(),
      .num_processes = backend_.num_processes(),
      .seed = static_cast<int64_t>(options.seed),
      .per_device_batch_size = options.per_device_batch_size,
      .eval_per_device_batch_size = options.eval_per_device_batch_size > 0
                                        ? options.eval_per_device_batch_size
                                        : options.per_device_batch_size,
      .grad_accum_steps = options.grad_accum_steps,
      .batches_per_epoch = loader.batches_per_epoch()};
  config.total_batch_size = config.per_device_batch_size *
                            config.num_processes * config.grad_accum_steps;
  const auto rounded_up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  config.updates_per_epoch =
      rounded_up(config.batches_per_epoch, config.grad_accum_steps);
  config.max_updates = options.num_epochs * config.updates_per_epoch;
  if (options.max_updates > 0 &&
      (options.num_epochs == 0 || options.max_updates < config.max_updates)) {
    config.max_updates = options.max_updates;
  }
  config.num_epochs = rounded_up(config.max_updates, config.updates_per_epoch);
  return config;
}

RunResult Trainer::Train(const TrainOptions& options) {
  Check(options);
  Loader loader = TrainLoader(options);
  RunConfig config = MakeConfig(options, loader);
  Run run{.config = std::move(config), .loader = std::move(loader)};
  if (options.eval_data != nullptr)
    run.eval_loader =
        EvalLoader(options.eval_data, run.config.eval_per_device_batch_size);
  if (options.schedule != nullptr) {
    run.schedule =
        options.schedule({.num_epochs = run.config.num_epochs,
                          .updates_per_epoch = run.config.updates_per_epoch,
                          .total_updates = run.config.max_updates});
    run.scheduled_lr.emplace(optimizer_, "lr", *run.schedule);
    run.scheduled_lr->Apply(0);
  }
  run.result.state = {.grad_accum_steps = run.config.grad_accum_steps,
                      .num_processes = run.config.num_processes};
  run.steps.emplace(StepRunner::Parts{*task_, optimizer_, backend_, callbacks_,
                                      run.result.state},
                    options.clip,
                    run.scheduled_lr ? &*run.scheduled_lr : nullptr);
  history_.Reset();
  control_.Reset();
  optimizer_.ZeroGrad();
  try {
    RunEpochs(run);
  } catch (const std::exception& e) {
    run.result.ending = RunEnding::kError;
    run.result.message = e.what();
    EndRun(run);  // the first error is the one to know; a second one in
                  // OnRunEnd is not
    throw;
  }
  if (const std::exception_ptr error = EndRun(run))
    std::rethrow_exception(error);
  return run.result;
}

void Trainer::RunEpochs(Run& run) {
  callbacks_.Fire(RunStart{run.config, run.result.state});
  while (run.result.state.epoch < run.config.num_epochs) {
    if (RunEpoch(run)) continue;
    run.result.ending = RunEnding::kStopped;
    run.result.message = control_.reason();
    callbacks_.Fire(Stop{run.result.state, run.result.message});
    return;
  }
}

bool Trainer::RunEpoch(Run& run) {
  if (!TrainEpoch(run)) return false;
  EvaluateEpoch(run);
  callbacks_.Fire(EpochEnd{run.result.state, history_});
  history_.IncrementEpoch();
  ++run.result.state.epoch;
  run.result.state.ResetEpoch();
  // A stop asked for at the very end has nothing left to stop.
  return run.result.state.epoch == run.config.num_epochs ||
         !backend_.Any(control_.stop_requested());
}

bool Trainer::TrainEpoch(Run& run) {
  const Clock::time_point start = Clock::now();
  StepState& state = run.result.state;
  const int64_t updates_left = run.config.max_updates - state.optimizer_step;
  const int64_t batches = std::min(run.config.batches_per_epoch,
                                   updates_left * state.grad_accum_steps);
  MetricMeans means;
  task_->SetTraining(true);
  callbacks_.Fire(EpochStart{run.config, state, batches});
  run.loader.StartEpoch(state.epoch);
  bool stopped = backend_.Any(control_.stop_requested());
  for (int64_t left = batches; left > 0 && !stopped; --left) {
    const AnyBatch batch = run.loader.Next()->To(backend_.device());
    const StepOutput output = run.steps->Run(batch, left);
    if (output.loss.defined()) means.Add("loss", output.loss, output.weight);
    for (const auto& [name, value] : output.metrics)
      means.Add(name, value, output.weight);
    stopped = backend_.Any(control_.stop_requested());
  }
  for (const auto& [name, value] : means.Read())
    history_.Update("train_" + name, value);
  run.result.train_seconds += SecondsSince(start);
  if (stopped) return false;
  callbacks_.Fire(TrainEpochEnd{state, history_});
  return true;
}

void Trainer::EvaluateEpoch(Run& run) {
  if (!run.eval_loader) return;
  static const std::string kName = "eval";
  task_->SetTraining(false);
  const Metrics metrics =
      trainyard::Evaluate({*task_, backend_, callbacks_, run.result.state},
                          *run.eval_loader, kName);
  for (const auto& [name, value] : metrics) history_.Update(name, value);
  callbacks_.Fire(EvalEnd{run.result.state, kName, metrics});
}

std::exception_ptr Trainer::EndRun(Run& run) {
  run.result.seconds = SecondsSince(run.start);
  if (run.scheduled_lr) run.scheduled_lr->Restore();
  return callbacks_.FireToAll(RunEnd{run.result.state, history_,
                                     run.result.ending, run.result.message});
}

Metrics Trainer::Evaluate(DatasetPtr data, int64_t per_device_batch_size) {
  TORCH_CHECK_VALUE(data != nullptr, "Evaluate: there is no data");
  static const std::string kName = "evaluation";
  Loader loader = EvalLoader(data, per_device_batch_size);
  const StepState state{.num_processes = backend_.num_processes()};
  task_->SetTraining(false);
  const Metrics metrics =
      trainyard::Evaluate({*task_, backend_, callbacks_, state}, loader, kName);
  callbacks_.Fire(EvalEnd{state, kName, metrics});
  return metrics;
}

}  // namespace trainyard

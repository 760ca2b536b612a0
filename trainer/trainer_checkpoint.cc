// The trainer's part in checkpoints: everything that has state, into one and
// out of it, by name.
#include <c10/util/Exception.h>

#include <map>
#include <string>
#include <utility>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/parts/rng_state.h"
#include "trainer/error_message.h"
#include "trainer/model/tensor_match.h"
#include "trainer/or_throw.h"
#include "trainer/state_tensor.h"
#include "trainer/trainer.h"
#include "trainer/trainer_run.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

constexpr char kCallbackPrefix[] = "callback ";
constexpr char kWindowPrefix[] = "window start ";
constexpr char kOfAll[] = "of all ";
constexpr char kEpochMeans[] = "epoch_means";
constexpr char kReportMeans[] = "report_means";

std::string Named(const char* prefix, const std::string& name) {
  return prefix + name;
}

void SetProgress(State& state, const std::string& name,
                 const Progress& progress) {
  state.Set(name + "batches", progress.batches);
  state.Set(name + "updates", progress.updates);
  state.Set(name + "samples", progress.samples);
  state.Set(name + "epochs", progress.epochs);
  state.Set(name + "seconds", progress.seconds);
}

Progress GetProgress(const State& state, const std::string& name) {
  return {.batches = state.Get<int64_t>(name + "batches"),
          .updates = state.Get<int64_t>(name + "updates"),
          .samples = state.Get<int64_t>(name + "samples"),
          .epochs = state.Get<int64_t>(name + "epochs"),
          .seconds = state.Get<double>(name + "seconds")};
}

State CountersOf(const StepState& state) {
  State counters;
  counters.Set("batch_idx", state.batch_idx);
  counters.Set("optimizer_step", state.optimizer_step);
  counters.Set("samples_seen", state.samples_seen);
  counters.Set("epoch", state.epoch);
  return counters;
}

// Fields that a schedule or a callback may have changed, by group.
State FieldsOf(const Optimizer& optimizer) {
  State state;
  for (size_t group = 0; group < optimizer.num_groups(); ++group) {
    for (const auto& [field, value] : optimizer.Fields(group)) {
      state.Set(std::to_string(group) + "/" + field, value);
    }
  }
  return state;
}

void LoadFields(const State& state, Optimizer& optimizer) {
  for (size_t group = 0; group < optimizer.num_groups(); ++group) {
    for (const auto& [field, value] : optimizer.Fields(group)) {
      optimizer.Field(group, field) =
          state.Get<double>(std::to_string(group) + "/" + field);
    }
  }
}

// The gradients of a window that is not complete.
State GradientsOf(const std::vector<ModelTensors>& models) {
  State state;
  for (const ModelTensors& model : models) {
    for (const auto& [name, parameter] : model.parameters) {
      if (parameter.grad().defined()) {
        SetTensor(state, model.name + "/" + name, parameter.grad());
      }
    }
  }
  return state;
}

void LoadGradients(const State& state,
                   const std::vector<ModelTensors>& models) {
  for (const ModelTensors& model : models) {
    for (const auto& [name, parameter] : model.parameters) {
      const std::string key = model.name + "/" + name;
      if (!state.Has(key)) continue;
      parameter.mutable_grad() =
          GetTensor(state, key)
              .to(parameter.device(), /*non_blocking=*/false,
                  /*copy=*/true);
    }
  }
}

const State& PartOf(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.parts.find(name);
  TORCH_CHECK_VALUE(found != checkpoint.parts.end(),
                    "the checkpoint has no part \"", name, "\"");
  return found->second;
}

void LoadOptimizer(const Checkpoint& checkpoint, const NamedOptimizer& item) {
  const auto found = checkpoint.tensors.find(item.name);
  TORCH_CHECK_VALUE(found != checkpoint.tensors.end(),
                    "the checkpoint has no optimizer \"", item.name, "\"");
  item.optimizer->LoadState(found->second);
  LoadFields(PartOf(checkpoint, "fields " + item.name), *item.optimizer);
}

void LoadCallbacks(const Checkpoint& checkpoint,
                   const std::map<std::string, Stateful*>& callbacks) {
  for (const auto& [name, callback] : callbacks) {
    const auto found = checkpoint.parts.find(Named(kCallbackPrefix, name));
    if (found == checkpoint.parts.end()) {
      LOG(WARNING) << "the checkpoint has no state of the callback " << name
                   << "; it starts anew";
    } else {
      callback->LoadState(found->second);
    }
  }
}

}  // namespace

// What moves with every batch.
std::map<std::string, State> Trainer::CollectPosition(const Run& run) const {
  State counters = CountersOf(run.result.state);
  SetProgress(counters, "progress/", run.progress);
  SetProgress(counters, "before/", run.before);
  counters.Set("evaluated_at", run.evaluated_at);
  counters.Set("reported_at", run.reported_at);
  counters.Set("report_due", static_cast<int64_t>(run.report_due));
  return {{"counters", std::move(counters)},
          {"loader", run.loader.SaveState()},
          {"rng", SaveRngState()}};
}

Checkpoint Trainer::CollectCheckpoint(const Run& run, bool finished) const {
  const StepState& state = run.result.state;
  Checkpoint checkpoint{.step = state.optimizer_step,
                        .epoch = state.epoch,
                        .samples = state.samples_seen,
                        .finished = finished};
  // Those of other weights would make them the best by mistake.
  if (run.evaluated_at == run.progress.batches) {
    checkpoint.metrics = run.eval_metrics;
  }
  checkpoint.tensors["model"] = task_->State();
  for (const NamedOptimizer& item : optimizers_) {
    checkpoint.tensors[item.name] = item.optimizer->State();
    checkpoint.parts["fields " + item.name] = FieldsOf(*item.optimizer);
  }
  auto& parts = checkpoint.parts;
  parts.merge(CollectPosition(run));
  parts[kEpochMeans] = run.epoch_means.SaveState();
  parts[kReportMeans] = run.report_means.SaveState();
  if (backend_.num_processes() > 1) {
    parts[Named(kOfAll, kEpochMeans)] = run.epoch_means.SaveState(backend_);
    parts[Named(kOfAll, kReportMeans)] = run.report_means.SaveState(backend_);
  }
  parts["schedules"] = run.schedules.SaveState();
  parts["backend"] = backend_.SaveState();
  parts["window"] = run.steps->SaveState();
  if (run.steps->in_window()) {
    for (const auto& [name, part] : run.window_start.parts) {
      parts[Named(kWindowPrefix, name)] = part;
    }
    parts[Named(kWindowPrefix, kEpochMeans)] =
        run.window_start.epoch_means.SaveState(backend_);
    parts[Named(kWindowPrefix, kReportMeans)] =
        run.window_start.report_means.SaveState(backend_);
    parts["gradients"] = GradientsOf(task_->Models());
  }
  if (const auto* history = dynamic_cast<const Stateful*>(history_)) {
    parts["history"] = history->SaveState();
  }
  for (const auto& [name, callback] : callbacks_.StatefulCallbacks()) {
    parts[Named(kCallbackPrefix, name)] = callback->SaveState();
  }
  for (const auto& [name, value] : run.config.Fields()) {
    checkpoint.config[name] = value;
  }
  return checkpoint;
}

void Trainer::LoadCheckpoint(const Checkpoint& checkpoint, Run& run) {
  const auto model = checkpoint.tensors.find("model");
  TORCH_CHECK_VALUE(model != checkpoint.tensors.end(),
                    "the checkpoint has no model");
  OrThrow(LoadTensors(model->second, task_->State()));
  // Before the optimizers: a callback may have given one more to train.
  LoadCallbacks(checkpoint, callbacks_.StatefulCallbacks());
  for (const NamedOptimizer& item : optimizers_) {
    LoadOptimizer(checkpoint, item);
  }
  run.steps->LoadState(PartOf(checkpoint, "window"));
  // Half a window cannot be divided among others: it is begun again.
  const bool again = run.steps->in_window() && WrittenByOthers(checkpoint);
  const std::string from = again ? kWindowPrefix : "";
  const State& counters = PartOf(checkpoint, from + "counters");
  StepState& state = run.result.state;
  state.batch_idx = counters.Get<int64_t>("batch_idx");
  state.optimizer_step = counters.Get<int64_t>("optimizer_step");
  state.samples_seen = counters.Get<int64_t>("samples_seen");
  state.epoch = counters.Get<int64_t>("epoch");
  run.progress = GetProgress(counters, "progress/");
  run.before = GetProgress(counters, "before/");
  run.seconds_before = run.progress.seconds;
  run.samples_before = run.progress.samples;
  run.evaluated_at = counters.Get<int64_t>("evaluated_at");
  run.reported_at = counters.Get<int64_t>("reported_at");
  run.report_due = counters.Get<int64_t>("report_due") != 0;
  run.saved_at = run.progress.batches;
  run.eval_metrics = checkpoint.metrics;
  run.loader.LoadState(PartOf(checkpoint, from + "loader"));
  if (state.batch_idx > 0 && checkpoint.config.at("total_batch_size") !=
                                 std::to_string(run.config.total_batch_size)) {
    // Batches are larger or smaller than before: counted anew, by windows.
    state.batch_idx =
        *run.loader.batches_per_epoch() - *run.loader.batches_left();
    state.batch_idx -= state.batch_idx % state.grad_accum_steps;
  }
  run.schedules.LoadState(PartOf(checkpoint, "schedules"));
  // Another backend remembers other things, and begins anew.
  if (checkpoint.config.at("backend") == run.config.backend) {
    backend_.LoadState(PartOf(checkpoint, "backend"));
  }
  LoadMeans(checkpoint, again, run);
  if (run.steps->in_window() && !again) {
    LoadGradients(PartOf(checkpoint, "gradients"), task_->Models());
  }
  if (auto* history = dynamic_cast<Stateful*>(history_)) {
    history->LoadState(PartOf(checkpoint, "history"));
  }
  for (const std::string& change : Differences(run.config, checkpoint.config)) {
    LOG(WARNING) << "resumed with another configuration: " << change;
  }
  LoadRngState(PartOf(checkpoint, from + "rng"));
}

bool Trainer::WrittenByOthers(const Checkpoint& checkpoint) const {
  return checkpoint.world_size != backend_.num_processes() ||
         !checkpoint.own_parts;
}

// With another number of processes, the first one has the sums of all before.
void Trainer::LoadMeans(const Checkpoint& checkpoint, bool window_again,
                        Run& run) {
  const bool others = WrittenByOthers(checkpoint);
  std::string from;
  if (window_again) {
    from = kWindowPrefix;
  } else if (others && checkpoint.world_size > 1) {
    from = kOfAll;
  }
  run.epoch_means.LoadState(PartOf(checkpoint, from + kEpochMeans));
  run.report_means.LoadState(PartOf(checkpoint, from + kReportMeans));
  if (others && backend_.rank() != 0) {
    run.epoch_means.Forget();
    run.report_means.Forget();
  }
}

void Trainer::ResumeIfAsked(Run& run) {
  if (!run.checkpoints) return;
  const std::optional<Restored> restored =
      run.checkpoints->Find(run.options.resume);
  if (!restored) return;
  try {
    LoadCheckpoint(restored->checkpoint, run);
  } catch (const std::exception& e) {
    TORCH_CHECK_VALUE(false, "Train: cannot go on from ", restored->path, ": ",
                      ErrorMessage(e));
  }
  callbacks_.Fire(CheckpointLoaded{run.result.state, restored->path});
}

void Trainer::SaveCheckpoint(Run& run, bool finished) {
  if (!run.checkpoints) return;
  run.saved_at = run.progress.batches;
  const std::string path =
      run.checkpoints->Save(CollectCheckpoint(run, finished));
  callbacks_.Fire(CheckpointSaved{run.result.state, path});
}

}  // namespace trainyard

#include "callbacks/testing/fake_run.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "backends/backend.h"
#include "backends/single_process.h"
#include "trainer/data/batch.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

AnyBatch BatchOf(int64_t size) {
  return AnyBatch(Example{at::zeros({size}), at::zeros({size})});
}

StepOutput OutputOf(double loss, int64_t size) {
  return {.loss = at::full({}, loss, at::kDouble),
          .weight = static_cast<double>(size)};
}

}  // namespace

Backend& FakeBackend() {
  static const std::unique_ptr<Backend> backend =
      MakeSingleProcessBackend(at::kCPU);
  return *backend;
}

FakeRun::FakeRun(FakeRunOptions options)
    : options_(std::move(options)), clock_(NewClock()) {}

RunClock FakeRun::NewClock() {
  return RunClock({.grad_accum_steps = options_.grad_accum_steps,
                   .seconds = [this] { return now_; }});
}

RunEnding FakeRun::Play() {
  resumed_ = false;
  return PlayFrom(NewClock());
}

RunEnding FakeRun::PlayResumed(const RunClock& clock) {
  resumed_ = true;
  RunClock own = NewClock();
  own.LoadState(clock.SaveState());
  return PlayFrom(std::move(own));
}

RunEnding FakeRun::PlayFrom(RunClock clock) {
  const int64_t updates =
      (options_.batches_per_epoch + options_.grad_accum_steps - 1) /
      options_.grad_accum_steps;
  config_ = {.backend = "fake",
             .device = "cpu",
             .num_epochs = options_.num_epochs,
             .per_device_batch_size = options_.batch_size,
             .grad_accum_steps = options_.grad_accum_steps,
             .batches_per_epoch = options_.batches_per_epoch,
             .updates_per_epoch = updates,
             .total_updates = updates * options_.num_epochs};
  clock_ = std::move(clock);
  history_.Reset();
  for (int64_t i = 0; i < clock_.epoch(); ++i) history_.IncrementEpoch();
  control_.Reset();
  message_.clear();
  batch_ = 0;
  evaluated_at_.reset();
  reported_at_.reset();
  RunEnding ending = RunEnding::kError;
  try {
    ending = PlayEpochs();
  } catch (const std::exception& e) {
    message_ = e.what();
  }
  return EndRun(ending);
}

RunEnding FakeRun::EndRun(RunEnding ending) {
  const std::exception_ptr error =
      handler_.FireToAll(RunEnd{clock_, history_, ending, message_});
  if (!error) return ending;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    message_ = e.what();
  }
  return RunEnding::kError;
}

RunEnding FakeRun::PlayEpochs() {
  handler_.FireInitEnd();
  if (resumed_) handler_.Fire(CheckpointLoaded{clock_, "fake"});
  handler_.Fire(RunStart{config_, clock_, resumed_, FakeBackend()});
  // The report of the checkpoint's batch comes after the checkpoint.
  if (resumed_ && clock_.batches() > 0) PlayReport();
  if (options_.evaluate_at_start && !resumed_) PlayEvaluationOfRun(0);
  while (clock_.epoch() < options_.num_epochs) {
    if (!PlayEpoch()) return EndEarly();
  }
  if (evaluated_at_ != clock_.batches()) PlayEvaluationOfRun(clock_.epoch());
  if (reported_at_ != clock_.batches()) PlayReport();
  return RunEnding::kFinished;
}

bool FakeRun::PlayEpoch() {
  clock_.StartEpoch();
  handler_.Fire(EpochStart{config_, clock_, options_.batches_per_epoch});
  double sum = 0;
  bool ended = control_.stop_requested();
  for (int64_t left = options_.batches_per_epoch; left > 0 && !ended; --left) {
    PlayStep(left);
    sum += options_.loss(batch_);
    ended = left > 1 ? PlayDueActions() : control_.stop_requested();
  }
  if (ended) return false;
  history_.Update("train_loss",
                  sum / static_cast<double>(options_.batches_per_epoch));
  handler_.Fire(TrainEpochEnd{clock_, history_});
  clock_.CountEpoch();
  const int64_t epoch = clock_.epoch() + 1;
  if (epoch % options_.eval_every_epochs == 0) PlayEvaluationOfRun(epoch);
  handler_.Fire(EpochEnd{clock_, history_});
  history_.IncrementEpoch();
  clock_.EndEpoch();
  return clock_.epoch() == options_.num_epochs || !PlayDueActions();
}

bool FakeRun::PlayDueActions() {
  if (clock_.epoch_batches() > 0 &&
      clock_.epoch_batches() == options_.eval_within_epoch_at) {
    PlayEvaluationOfRun(clock_.epoch() + 1);
    if (control_.stop_requested()) return true;
  }
  PlayReport();
  return control_.stop_requested();
}

RunEnding FakeRun::EndEarly() {
  if (reported_at_ != clock_.batches()) PlayReport();
  message_ = control_.reason();
  handler_.Fire(RunStopped{clock_, message_});
  return RunEnding::kStopped;
}

void FakeRun::PlayEvaluationOfRun(int64_t epoch) {
  evaluated_at_ = clock_.batches();
  PlayEvalSteps("eval", options_.eval(epoch));
}

void FakeRun::PlayReport() {
  reported_at_ = clock_.batches();
  Metrics metrics;
  if (batch_ > 0) metrics["train_loss"] = options_.loss(batch_);
  handler_.Fire(MetricsReport{clock_, metrics});
}

void FakeRun::PlayStep(int64_t batches_left) {
  ++batch_;
  clock_.StartBatch();
  now_ += options_.data_seconds;
  const AnyBatch batch = BatchOf(options_.batch_size);
  const StepOutput output =
      OutputOf(options_.loss(batch_), options_.batch_size);
  handler_.Fire(StepStart{clock_, batch});
  handler_.Fire(ForwardEnd{clock_, batch, output.loss});
  handler_.Fire(LossEnd{clock_, batch, output});
  if (batch_ == options_.fail_at_batch) throw std::runtime_error("no memory");
  options_.backward();
  handler_.Fire(BackwardEnd{clock_, output});
  if (clock_.EndsWindow(batches_left == 1)) {
    handler_.Fire(GradientsReady{clock_});
    clock_.CountUpdate();
    handler_.Fire(UpdateEnd{clock_, true});
  }
  now_ += options_.step_seconds;
  clock_.CountBatch(options_.batch_size);
  handler_.Fire(StepEnd{clock_, batch, output});
}

void FakeRun::PlayEvalSteps(const std::string& name, const Metrics& metrics) {
  const auto loss = metrics.find("eval_loss");
  const AnyBatch batch = BatchOf(options_.batch_size);
  const StepOutput output =
      OutputOf(loss == metrics.end() ? 0 : loss->second, options_.batch_size);
  handler_.Fire(EvalStart{clock_, name, options_.eval_batches, FakeBackend()});
  for (int64_t i = 0; i < options_.eval_batches; ++i) {
    handler_.Fire(EvalStepStart{clock_, batch, i});
    now_ += options_.eval_step_seconds;
    handler_.Fire(EvalStepEnd{clock_, batch, output, i});
  }
  // Evaluations outside of a run are not part of its history.
  if (name == "eval") {
    for (const auto& [metric, value] : metrics) history_.Update(metric, value);
  }
  handler_.Fire(EvalEnd{clock_, name, metrics});
}

RunEnding FakeRun::PlayNothing(bool resumed) {
  message_.clear();
  handler_.FireInitEnd();
  if (resumed) handler_.Fire(CheckpointLoaded{clock_, "fake"});
  handler_.Fire(RunStart{config_, clock_, resumed, FakeBackend()});
  return EndRun(RunEnding::kFinished);
}

void FakeRun::PlayEvaluation() {
  PlayEvalSteps("evaluation", {{"evaluation_loss", 0.125}});
}

}  // namespace trainyard

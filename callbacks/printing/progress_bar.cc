#include "callbacks/printing/progress_bar.h"

#include <ATen/core/Tensor.h>

#include "callbacks/printing/prints_here.h"
#include "tracking/run_history.h"
#include "trainer/data/batch.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

LateValues::Tensors TensorsOf(const StepOutput& output) {
  LateValues::Tensors tensors = {{"loss", output.loss}};
  for (const auto& [name, value] : output.metrics) {
    tensors.emplace_back(name, value);
  }
  return tensors;
}

int64_t SamplesOf(const AnyBatch& batch, const RunClock& clock) {
  return batch.size() * clock.num_processes();
}

}  // namespace

void ProgressBar::OnRunStart(const RunStart& e, Control&) {
  prints_ = PrintsHere(e.backend, every_rank_);
}

void ProgressBar::OnEpochStart(const EpochStart& e, Control&) {
  if (!prints_) return;
  const std::string label = "Epoch " + e.config.EpochLabel(e.clock.epoch());
  Leave();
  training_ = true;
  epoch_ = label + " ";
  display_.Begin(label, e.clock.epoch_batches(), e.num_batches);
}

void ProgressBar::OnStepEnd(const StepEnd& e, Control&) {
  if (!prints_) return;
  ShowStep(SamplesOf(e.batch, e.clock), e.output);
}

void ProgressBar::ShowStep(int64_t samples, const StepOutput& output) {
  if (display_.Count(samples)) late_.Start(TensorsOf(output));
  if (auto values = late_.Take()) display_.Show(std::move(*values));
}

void ProgressBar::OnTrainEpochEnd(const TrainEpochEnd& e, Control&) {
  if (!prints_) return;
  training_ = false;
  late_.Drop();
  // The mean of the epoch says more than its last batch.
  ProgressDisplay::Values values;
  if (!e.history.Values("train_loss").empty()) {
    values.emplace_back("loss", e.history.Latest("train_loss"));
  }
  display_.Finish(std::move(values));
}

void ProgressBar::OnEvalStart(const EvalStart& e, Control&) {
  prints_ = PrintsHere(e.backend, every_rank_);
  if (!prints_) return;
  late_.Drop();
  // What still runs outside of an epoch is an evaluation that failed.
  if (!training_) display_.Leave();
  display_.Begin(epoch_ + e.name, 0, e.num_batches);
}

void ProgressBar::OnEvalStepEnd(const EvalStepEnd& e, Control&) {
  if (!prints_) return;
  ShowStep(SamplesOf(e.batch, e.clock), e.output);
}

void ProgressBar::OnEvalEnd(const EvalEnd& e, Control&) {
  if (!prints_) return;
  late_.Drop();
  ProgressDisplay::Values values;
  for (const auto& [name, value] : e.metrics) {
    // The label has the evaluation's name.
    const std::string prefix = e.name + "_";
    values.emplace_back(
        name.starts_with(prefix) ? name.substr(prefix.size()) : name, value);
  }
  display_.Finish(std::move(values));
}

void ProgressBar::OnRunEnd(const RunEnd&, Control&) {
  Leave();
  epoch_.clear();
}

void ProgressBar::Leave() {
  training_ = false;
  late_.Drop();
  display_.Leave();
}

}  // namespace trainyard

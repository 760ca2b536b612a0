#include "callbacks/early_stopping.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "callbacks/display/readable.h"
#include "tracking/run_history.h"

namespace trainyard {

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)) {
  if (options_.metric.empty()) {
    throw std::invalid_argument("EarlyStopping: metric is empty");
  }
  if (options_.patience < 1) {
    throw std::invalid_argument("EarlyStopping: patience is " +
                                std::to_string(options_.patience) +
                                "; it must be at least 1");
  }
  if (!(options_.threshold >= 0)) {
    throw std::invalid_argument("EarlyStopping: threshold is " +
                                std::to_string(options_.threshold) +
                                "; it must not be negative");
  }
}

State EarlyStopping::SaveState() const {
  State state;
  if (best_) state.Set("best", *best_);
  state.Set("best_epoch", best_epoch_);
  state.Set("waited", waited_);
  state.Set("judged", static_cast<int64_t>(judged_));
  return state;
}

void EarlyStopping::LoadState(const State& state) {
  state.CheckVersion(1);
  const auto best_epoch = state.Get<int64_t>("best_epoch");
  const auto waited = state.Get<int64_t>("waited");
  judged_ = static_cast<size_t>(state.Get<int64_t>("judged"));
  best_.reset();
  if (state.Has("best")) best_ = state.Get<double>("best");
  best_epoch_ = best_epoch;
  waited_ = waited;
  goes_on_ = true;
}

void EarlyStopping::OnRunStart(const RunStart& e, Control& control) {
  in_run_ = true;
  evaluated_ = false;
  num_epochs_ = e.config.num_epochs;
  if (std::exchange(goes_on_, false)) return StopIfPatienceIsOut(control);
  judged_ = 0;
  waited_ = 0;
  if (!options_.reset_on_run) return;
  best_.reset();
  best_epoch_ = 0;
}

void EarlyStopping::OnEvalEnd(const EvalEnd& e, Control& control) {
  if (!in_run_) return;
  evaluated_ = true;
  const auto found = e.metrics.find(options_.metric);
  if (found != e.metrics.end()) Judge(found->second, e.state, control);
}

void EarlyStopping::OnEpochEnd(const EpochEnd& e, Control& control) {
  const std::vector<double> values = e.history.Values(options_.metric);
  if (values.empty() && evaluated_) ThrowMissing(e.history);
  // Those of evaluations were judged as they came.
  while (judged_ < values.size()) Judge(values[judged_], e.state, control);
}

void EarlyStopping::OnRunEnd(const RunEnd& e, Control&) {
  in_run_ = false;
  if (e.ending == RunEnding::kFinished && e.state.epoch > 0 && judged_ == 0) {
    ThrowMissing(e.history);
  }
}

void EarlyStopping::Judge(double value, const StepState& state,
                          Control& control) {
  ++judged_;
  if (Improves(value)) {
    best_ = value;
    // The evaluation that ends a run comes after its last epoch was counted.
    best_epoch_ = std::min(state.epoch + 1, num_epochs_);
    waited_ = 0;
    return;
  }
  ++waited_;
  StopIfPatienceIsOut(control);
}

void EarlyStopping::StopIfPatienceIsOut(Control& control) const {
  if (waited_ < options_.patience) return;
  const std::string best =
      best_ ? ReadableValue(*best_) + " of epoch " + std::to_string(best_epoch_)
            : "nan";
  control.RequestStop(options_.metric + " has not improved on " + best +
                      " in " + std::to_string(waited_) +
                      (waited_ == 1 ? " evaluation" : " evaluations"));
}

bool EarlyStopping::Improves(double value) const {
  if (std::isnan(value)) return false;
  if (!best_) return true;
  const double gain =
      options_.better == Better::kLower ? *best_ - value : value - *best_;
  return gain > options_.threshold;
}

void EarlyStopping::ThrowMissing(const RunHistory& history) const {
  std::string known;
  for (const std::string& name : history.Names()) {
    known += (known.empty() ? "" : ", ") + name;
  }
  throw std::invalid_argument(
      "EarlyStopping: metric \"" + options_.metric +
      "\" was not recorded; there are: " + (known.empty() ? "none" : known));
}

}  // namespace trainyard

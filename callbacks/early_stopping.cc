#include "callbacks/early_stopping.h"

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

void EarlyStopping::OnRunStart(const RunStart&, Control&) {
  in_run_ = true;
  judged_ = 0;
  waited_ = 0;
  if (!options_.reset_on_run) return;
  best_.reset();
  best_epoch_ = 0;
}

void EarlyStopping::OnEvalEnd(const EvalEnd& e, Control& control) {
  const auto found = e.metrics.find(options_.metric);
  if (in_run_ && found != e.metrics.end()) {
    Judge(found->second, e.state, control);
  }
}

void EarlyStopping::OnEpochEnd(const EpochEnd& e, Control& control) {
  const std::vector<double> values = e.history.Values(options_.metric);
  if (values.empty()) {
    std::string known;
    for (const std::string& name : e.history.Names()) {
      known += (known.empty() ? "" : ", ") + name;
    }
    throw std::invalid_argument(
        "EarlyStopping: metric \"" + options_.metric +
        "\" was not recorded; there are: " + (known.empty() ? "none" : known));
  }
  // Those of evaluations were judged as they came.
  while (judged_ < values.size()) Judge(values[judged_], e.state, control);
}

void EarlyStopping::OnRunEnd(const RunEnd&, Control&) { in_run_ = false; }

void EarlyStopping::Judge(double value, const StepState& state,
                          Control& control) {
  ++judged_;
  if (Improves(value)) {
    best_ = value;
    best_epoch_ = state.epoch + 1;
    waited_ = 0;
    return;
  }
  if (++waited_ < options_.patience) return;
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

}  // namespace trainyard

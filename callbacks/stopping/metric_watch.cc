#include "callbacks/stopping/metric_watch.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tracking/run_history.h"

namespace trainyard {

MetricWatch::MetricWatch(std::string owner, std::string metric)
    : owner_(std::move(owner)), metric_(std::move(metric)) {
  if (metric_.empty()) {
    throw std::invalid_argument(owner_ + ": metric is empty");
  }
}

void MetricWatch::StartRun(int64_t taken) {
  in_run_ = true;
  evaluated_ = false;
  taken_ = taken;
}

std::optional<double> MetricWatch::Take(const EvalEnd& e) {
  if (!in_run_) return std::nullopt;
  evaluated_ = true;
  const auto found = e.metrics.find(metric_);
  if (found == e.metrics.end()) return std::nullopt;
  ++taken_;
  return found->second;
}

std::vector<double> MetricWatch::Take(const EpochEnd& e) {
  std::vector<double> values = e.history.Values(metric_);
  if (values.empty() && evaluated_) ThrowMissing(e.history);
  const auto size = static_cast<int64_t>(values.size());
  // Those of evaluations were taken as they came.
  values.erase(values.begin(), values.begin() + std::min(taken_, size));
  taken_ = std::max(taken_, size);
  return values;
}

void MetricWatch::EndRun(const RunEnd& e) {
  in_run_ = false;
  if (e.ending == RunEnding::kFinished && e.clock.epoch() > 0 && taken_ == 0) {
    ThrowMissing(e.history);
  }
}

void MetricWatch::ThrowMissing(const RunHistory& history) const {
  std::string known;
  for (const std::string& name : history.Names()) {
    known += (known.empty() ? "" : ", ") + name;
  }
  throw std::invalid_argument(
      owner_ + ": metric \"" + metric_ +
      "\" was not recorded; there are: " + (known.empty() ? "none" : known));
}

}  // namespace trainyard

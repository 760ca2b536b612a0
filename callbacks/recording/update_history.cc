#include "callbacks/recording/update_history.h"

#include <stdexcept>

namespace trainyard {
namespace {

// What the names in its state begin with.
const std::string kUpdates = "updates/";
const std::string kValues = "values/";

}  // namespace

std::vector<std::string> UpdateHistory::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, series] : series_) names.push_back(name);
  return names;
}

UpdateHistory::Series UpdateHistory::Values(const std::string& name) const {
  const auto found = series_.find(name);
  return found == series_.end() ? Series() : found->second;
}

void UpdateHistory::OnRunStart(const RunStart& e, Control&) {
  if (!e.resumed) series_.clear();
}

void UpdateHistory::OnMetricsReport(const MetricsReport& e, Control&) {
  for (const auto& [name, value] : e.metrics) {
    series_[name].emplace_back(e.clock.updates(), value);
  }
}

State UpdateHistory::SaveState() const {
  State state;
  for (const auto& [name, series] : series_) {
    std::vector<int64_t> updates;
    std::vector<double> values;
    for (const auto& [update, value] : series) {
      updates.push_back(update);
      values.push_back(value);
    }
    state.Set(kUpdates + name, std::move(updates));
    state.Set(kValues + name, std::move(values));
  }
  return state;
}

void UpdateHistory::LoadState(const State& state) {
  state.CheckVersion(1);
  std::map<std::string, Series> loaded;
  for (const auto& [key, value] : state.values()) {
    if (!key.starts_with(kUpdates)) continue;
    const std::string name = key.substr(kUpdates.size());
    const auto& updates = state.Get<std::vector<int64_t>>(key);
    const auto& values = state.Get<std::vector<double>>(kValues + name);
    if (updates.size() != values.size()) {
      throw std::invalid_argument("UpdateHistory: the state of \"" + name +
                                  "\" has not a value for each update");
    }
    Series& series = loaded[name];
    for (size_t i = 0; i < updates.size(); ++i) {
      series.emplace_back(updates[i], values[i]);
    }
  }
  series_ = std::move(loaded);
}

}  // namespace trainyard

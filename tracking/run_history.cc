#include "tracking/run_history.h"

#include <stdexcept>
#include <utility>

namespace trainyard {

void InMemoryRunHistory::Update(const std::string& name, double value) {
  values_[name].push_back(value);
}

std::vector<std::string> InMemoryRunHistory::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : values_) names.push_back(name);
  return names;
}

std::vector<double> InMemoryRunHistory::Values(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<double>() : found->second;
}

double InMemoryRunHistory::Latest(const std::string& name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second.back();
  std::string known;
  for (const auto& [other, values] : values_)
    known += (known.empty() ? "" : ", ") + other;
  throw std::out_of_range("RunHistory: no metric \"" + name +
                          "\"; there are: " + (known.empty() ? "none" : known));
}

State InMemoryRunHistory::SaveState() const {
  State state;
  state.Set("epoch", epoch_);
  for (const auto& [name, values] : values_) state.Set("value/" + name, values);
  return state;
}

void InMemoryRunHistory::LoadState(const State& state) {
  state.CheckVersion(1);
  const std::string prefix = "value/";
  std::map<std::string, std::vector<double>> values;
  for (const auto& [name, value] : state.values()) {
    if (!name.starts_with(prefix)) continue;
    values[name.substr(prefix.size())] = state.Get<std::vector<double>>(name);
  }
  epoch_ = state.Get<int64_t>("epoch");
  values_ = std::move(values);
}

void InMemoryRunHistory::Reset() {
  values_.clear();
  epoch_ = 1;
}

}  // namespace trainyard

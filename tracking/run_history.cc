#include "tracking/run_history.h"

#include <stdexcept>

namespace trainyard {

void InMemoryRunHistory::Update(const std::string& name, double value) {
  values_[prefix_ + name].push_back(value);
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

void InMemoryRunHistory::Reset() {
  values_.clear();
  epoch_ = 1;
}

}  // namespace trainyard

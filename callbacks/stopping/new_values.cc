#include "callbacks/stopping/new_values.h"

namespace trainyard {

Metrics NewValues::Take(const RunHistory& history) {
  Metrics values;
  for (const std::string& name : history.Names()) {
    const size_t size = history.Values(name).size();
    size_t& seen = seen_[name];
    if (size > seen) values[name] = history.Latest(name);
    seen = size;
  }
  return values;
}

}  // namespace trainyard

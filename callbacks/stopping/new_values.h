// NewValues returns the values that a history received since the last call.
//
//   NewValues news;
//   const Metrics metrics = news.Take(e.history);   // the latest of each
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_STOPPING_NEW_VALUES_H_
#define TRAINYARD_CALLBACKS_STOPPING_NEW_VALUES_H_

#include <cstddef>
#include <map>
#include <string>

#include "tracking/run_history.h"
#include "trainer/events.h"

namespace trainyard {

class NewValues {
 public:
  // The latest value of every metric that received one since the last call; in
  // the first call, of all metrics.
  Metrics Take(const RunHistory& history);

  // For the start of a run, whose history is empty.
  void Reset() { seen_.clear(); }

 private:
  // The number of values of each metric at the last call.
  std::map<std::string, size_t> seen_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_NEW_VALUES_H_

// NewValues tells what a history has received since it was last asked.
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
  // The latest value of every metric that received one since the last call, or
  // ever before the first.
  Metrics Take(const RunHistory& history);

  // As new. For the start of a run, which begins with an empty history.
  void Reset() { seen_.clear(); }

 private:
  // How many values of each metric were there at the last call.
  std::map<std::string, size_t> seen_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_STOPPING_NEW_VALUES_H_

// A straight line from one ratio of the configured value to another.
//
//   Linear();                                             // down to 0
//   Linear({.start_ratio = 0.1, .end_ratio = 1, .length = Epochs(1)});  // up
//
// value = base * (start_ratio + (end_ratio - start_ratio) * min(n / T, 1)) with
// T the updates of `length`.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_LINEAR_H_
#define TRAINYARD_SCHEDULERS_LINEAR_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct LinearOptions {
  // REQUIRES: >= 0, both.
  double start_ratio = 1;
  double end_ratio = 0;
  // In updates or epochs, more than 0; unset: the whole run. The end is held.
  std::optional<Duration> length = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Linear(LinearOptions options = {});

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_LINEAR_H_

// Warm-up before any other schedule.
//
//   Warmup({.length = Epochs(1)}, Step({.every = Epochs(30)}));
//
// The value rises in equal steps to the first value of the other schedule,
// which then runs from its start over the rest of the run.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_WARMUP_H_
#define TRAINYARD_SCHEDULERS_WARMUP_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct WarmupOptions {
  // Part of the run, in updates or epochs; shorter than the run.
  Duration length = Updates(0);
  // Where it starts: a value, or a ratio of the group's configured value. 0 if
  // both are unset. REQUIRES: >= 0, at most one set.
  std::optional<double> start_value = std::nullopt;
  std::optional<double> start_ratio = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run, and
// when there is no schedule.
ScheduleFactory Warmup(WarmupOptions options, ScheduleFactory then);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_WARMUP_H_

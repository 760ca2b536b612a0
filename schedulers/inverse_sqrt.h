// Warm-up, then a fall with the square root of the number of updates. It does
// not depend on the length of the run.
//
//   InverseSqrt({.warmup = Updates(4000)});
//
// value = base * sqrt(S / (S + n)), n updates after the end of warm-up and S
// the updates of `timescale`; see noam.h for the original with its own
// constants.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_INVERSE_SQRT_H_
#define TRAINYARD_SCHEDULERS_INVERSE_SQRT_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct InverseSqrtOptions {
  // Part of the run, in updates or epochs.
  Duration warmup = Updates(0);
  // Where warm-up starts: a value, or a ratio of the configured value. 0 if
  // both are unset. REQUIRES: >= 0, at most one set.
  std::optional<double> warmup_start_value = std::nullopt;
  std::optional<double> warmup_start_ratio = std::nullopt;
  // The value has halved after three times this. Unset: the length of warm-up,
  // which must then not be 0. REQUIRES: > 0.
  std::optional<Duration> timescale = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory InverseSqrt(InverseSqrtOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_INVERSE_SQRT_H_

// Warm-up, a long constant part, and a short decay at the end: a run can be
// prolonged from any point of the constant part.
//
//   WarmupStableDecay({.warmup = Updates(500), .decay = Epochs(0.5)});
//
// The value rises in equal steps to the configured one, stays, and falls to the
// minimum over the last `decay` of the run, x of it done, as
//
//   min + (base - min) * {1 - x, (1 + cos(pi * x)) / 2, 1 - sqrt(x)}.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_WARMUP_STABLE_DECAY_H_
#define TRAINYARD_SCHEDULERS_WARMUP_STABLE_DECAY_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct WarmupStableDecayOptions {
  enum class Shape { kLinear, kCosine, kOneMinusSqrt };

  // Part of the run, in updates or epochs.
  Duration warmup = Updates(0);
  // Where warm-up starts: a value, or a ratio of the configured value. 0 if
  // both are unset. REQUIRES: >= 0, at most one set.
  std::optional<double> warmup_start_value = std::nullopt;
  std::optional<double> warmup_start_ratio = std::nullopt;

  // Part of the run, in updates or epochs. Required. REQUIRES: > 0.
  Duration decay = Updates(0);
  Shape shape = Shape::kOneMinusSqrt;
  // What decay falls to, as a value or a ratio of the configured value; held
  // after the run. 0 if both are unset. REQUIRES: >= 0, at most one set.
  std::optional<double> min_value = std::nullopt;
  std::optional<double> min_ratio = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory WarmupStableDecay(WarmupStableDecayOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_WARMUP_STABLE_DECAY_H_

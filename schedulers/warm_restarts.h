// A cosine down to a minimum that starts again at the configured value, each
// time taking `period_mul` times as long.
//
//   WarmRestarts({.period = Epochs(1), .period_mul = 2});
//
// value = min + (base - min) / 2 * (1 + cos(pi * n / T)), n updates after the
// latest restart and T the length of that period.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_WARM_RESTARTS_H_
#define TRAINYARD_SCHEDULERS_WARM_RESTARTS_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct WarmRestartsOptions {
  // The first one, in updates or epochs. Required. REQUIRES: > 0.
  Duration period = Updates(0);
  // REQUIRES: >= 1.
  int period_mul = 1;
  // As a value or a ratio of the configured value. 0 if both are unset.
  // REQUIRES: >= 0, at most one set.
  std::optional<double> min_value = std::nullopt;
  std::optional<double> min_ratio = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory WarmRestarts(WarmRestartsOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_WARM_RESTARTS_H_

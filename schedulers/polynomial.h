// A fall to a minimum along a power of what remains.
//
//   Polynomial({.power = 2, .min_ratio = 0.01});
//
// value = min + (base - min) * (1 - min(n / T, 1))^power with T the updates of
// `length`.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_POLYNOMIAL_H_
#define TRAINYARD_SCHEDULERS_POLYNOMIAL_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct PolynomialOptions {
  // REQUIRES: > 0.
  double power = 1;
  // What it falls to, as a value or a ratio of the configured value. 0 if
  // both are unset. REQUIRES: >= 0, at most one set.
  std::optional<double> min_value = std::nullopt;
  std::optional<double> min_ratio = std::nullopt;
  // In updates or epochs, more than 0; unset: the whole run. The minimum is
  // held.
  std::optional<Duration> length = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Polynomial(PolynomialOptions options = {});

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_POLYNOMIAL_H_

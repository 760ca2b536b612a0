// A cosine down to a minimum and up again, for ever.
//
//   CosineAnnealing({.half_period = Epochs(10), .min_ratio = 0.01});
//
// value = min + (base - min) / 2 * (1 + cos(pi * n / T)) with T the updates of
// `half_period`. For one way down with warm-up see cosine.h.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_COSINE_ANNEALING_H_
#define TRAINYARD_SCHEDULERS_COSINE_ANNEALING_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct CosineAnnealingOptions {
  // From the configured value to the minimum, in updates or epochs, more than
  // 0; unset: the whole run.
  std::optional<Duration> half_period = std::nullopt;
  // As a value or a ratio of the configured value. 0 if both are unset.
  // REQUIRES: >= 0, at most one set.
  std::optional<double> min_value = std::nullopt;
  std::optional<double> min_ratio = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory CosineAnnealing(CosineAnnealingOptions options = {});

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_COSINE_ANNEALING_H_

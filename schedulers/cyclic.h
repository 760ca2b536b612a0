// Up from the configured value to a peak and down again, over and over.
//
//   Cyclic({.peak_ratio = 10,
//           .up = Epochs(2),
//           .mode = CyclicMode::kTriangular2});
//
// value = base + (peak - base) * x * scale, where x rises in a straight line
// from 0 to 1 and falls back, and scale is 1, halves with each cycle, or is
// gamma^n. A peak below the configured value turns the cycle round, as a
// momentum's should beside a learning rate's.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_CYCLIC_H_
#define TRAINYARD_SCHEDULERS_CYCLIC_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

enum class CyclicMode { kTriangular, kTriangular2, kExpRange };

struct CyclicOptions {
  // As a value or a ratio of the configured value. REQUIRES: >= 0, one set.
  std::optional<double> peak_value = std::nullopt;
  std::optional<double> peak_ratio = std::nullopt;
  // In updates or epochs. Required. REQUIRES: > 0.
  Duration up = Updates(0);
  // Unset: as long as `up`. REQUIRES: > 0.
  std::optional<Duration> down = std::nullopt;
  CyclicMode mode = CyclicMode::kTriangular;
  // Of kExpRange, per update. REQUIRES: > 0.
  double gamma = 1;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Cyclic(CyclicOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_CYCLIC_H_

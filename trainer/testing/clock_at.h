// ClockAt makes the clock of a run that is somewhere, for tests that fire
// events themselves.
//
//   const RunClock clock = ClockAt({.epoch = 2, .updates = 20});
//   callback.OnMetricsReport({clock, metrics}, control);
#ifndef TRAINYARD_TRAINER_TESTING_CLOCK_AT_H_
#define TRAINYARD_TRAINER_TESTING_CLOCK_AT_H_

#include <cstdint>

#include "trainer/run_clock.h"

namespace trainyard {

struct ClockPosition {
  int64_t epoch = 0;
  int64_t epoch_batches = 0;
  int64_t updates = 0;
  int64_t samples = 0;
  int64_t num_processes = 1;

  friend bool operator==(const ClockPosition&, const ClockPosition&) = default;
};

RunClock ClockAt(const ClockPosition& position);

// Where a clock is: what must be equal after a resumed run.
ClockPosition PositionOf(const RunClock& clock);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TESTING_CLOCK_AT_H_

// A fall by the same ratio after every so many updates.
//
//   Step({.every = Epochs(30), .gamma = 0.1});
//
// value = base * gamma^floor(n / T) with T the updates of `every`.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_STEP_H_
#define TRAINYARD_SCHEDULERS_STEP_H_

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct StepOptions {
  // In updates or epochs. Required. REQUIRES: > 0.
  Duration every = Updates(0);
  // REQUIRES: > 0.
  double gamma = 0.1;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Step(StepOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_STEP_H_

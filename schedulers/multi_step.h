// A fall by the same ratio at each of the given points.
//
//   MultiStep({.at = Epochs({30, 60, 80}), .gamma = 0.1});
//
// value = base * gamma^(how many points are at or before n). A point given
// twice counts twice.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_MULTI_STEP_H_
#define TRAINYARD_SCHEDULERS_MULTI_STEP_H_

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct MultiStepOptions {
  // In updates or epochs, which need not be whole. Required.
  Points at = {};
  // REQUIRES: > 0.
  double gamma = 0.1;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory MultiStep(MultiStepOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_MULTI_STEP_H_

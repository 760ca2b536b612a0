// A smooth fall by the same ratio per update, or per any other length.
//
//   Exponential({.gamma = 0.999});                    // per update
//   Exponential({.gamma = 0.9, .every = Epochs(1)});  // 10 % less per epoch
//
// value = base * gamma^(n / T) with T the updates of `every`. For a staircase
// see step.h.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_EXPONENTIAL_H_
#define TRAINYARD_SCHEDULERS_EXPONENTIAL_H_

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct ExponentialOptions {
  // Required. REQUIRES: > 0.
  double gamma = 0;
  // What it takes to fall by `gamma`, in updates or epochs. REQUIRES: > 0.
  Duration every = Updates(1);
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Exponential(ExponentialOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_EXPONENTIAL_H_

// One rise to the configured value and one long fall far below it over the
// whole run, with the momentum moving the other way.
//
//   const OneCycleOptions options{.pct_start = 0.25};
//   ScheduleFactory lr = OneCycle(options);
//   ScheduleFactory momentum = OneCycleMomentum(options);
//
// The learning rate goes base / div_factor -> base -> base / div_factor /
// final_div_factor; the momentum max_momentum -> base_momentum -> max_momentum.
// With three phases the fall stops at base / div_factor, as long after the peak
// as the start before it, and the rest of the run goes to the end. The last
// value is reached on the run's last update, and held.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_ONE_CYCLE_H_
#define TRAINYARD_SCHEDULERS_ONE_CYCLE_H_

#include "schedulers/schedule.h"

namespace trainyard {

struct OneCycleOptions {
  enum class Shape { kCosine, kLinear };

  // The part of the run that rises. REQUIRES: 0 to 1; 0.5 with three phases.
  double pct_start = 0.3;
  Shape shape = Shape::kCosine;
  bool three_phase = false;

  // Of the learning rate. REQUIRES: > 0, both.
  double div_factor = 25;
  double final_div_factor = 1e4;

  // Of the momentum, whose configured value is not used. REQUIRES: 0 to 1, the
  // base not above the maximum.
  double base_momentum = 0.85;
  double max_momentum = 0.95;
};

// Each throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory OneCycle(OneCycleOptions options = {});
ScheduleFactory OneCycleMomentum(OneCycleOptions options = {});

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_ONE_CYCLE_H_

// Chained applies several schedules at the same time, each to the result of the
// one before it.
//
//   Chained({Linear({.start_ratio = 0.1, .end_ratio = 1, .length = Epochs(1)}),
//            Step({.every = Epochs(30)})});
//
// value = c(b(a(base))): for schedules that only scale, the product of their
// ratios in any order.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_CHAINED_H_
#define TRAINYARD_SCHEDULERS_CHAINED_H_

#include <vector>

#include "schedulers/schedule.h"

namespace trainyard {

// Throws std::invalid_argument for an empty list or a missing schedule.
ScheduleFactory Chained(std::vector<ScheduleFactory> schedules);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_CHAINED_H_

// Schedules one after the other, each from its own beginning.
//
//   Sequential({{Linear({.start_ratio = 0.1, .end_ratio = 1}), Epochs(1)},
//               {Constant(), Epochs(3)},
//               {CosineAnnealing()}});
//
// Each part sees its own length as the run's; the last takes the rest. The
// configured value is the same for all.
//
// Thread-safe: factory and schedule do not change.
#ifndef TRAINYARD_SCHEDULERS_SEQUENTIAL_H_
#define TRAINYARD_SCHEDULERS_SEQUENTIAL_H_

#include <optional>
#include <vector>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct SequentialPart {
  // Required.
  ScheduleFactory schedule = nullptr;
  // In updates or epochs, more than 0. Not set in the last part, set in all
  // others; they must leave something of the run.
  std::optional<Duration> length = std::nullopt;
};

// Throws std::invalid_argument for parts that are wrong in any run, and for an
// empty list.
ScheduleFactory Sequential(std::vector<SequentialPart> parts);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_SEQUENTIAL_H_

// Sequential runs schedules one after the other, each from its start.
//
//   Sequential({{Linear({.start_ratio = 0.1, .end_ratio = 1}), Epochs(1)},
//               {Constant(), Epochs(3)},
//               {CosineAnnealing()}});
//
// Each part gets its own length as the length of the run; the last part takes
// the rest. All parts use the same configured value.
//
// Thread-safe: factory and schedule are immutable.
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
  // In updates or epochs, more than 0. Unset in the last part, which must have
  // at least one update; set in all others.
  std::optional<Duration> length = std::nullopt;
};

// Throws std::invalid_argument for parts that are invalid in every run, and for
// an empty list.
ScheduleFactory Sequential(std::vector<SequentialPart> parts);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_SEQUENTIAL_H_

// A constant ratio of the configured value, always or for the first part of a
// run.
//
//   Constant();                                       // leaves the field alone
//   Constant({.ratio = 0.1, .length = Updates(500)});  // careful at first
//
// value = base * ratio before `length`, base after.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_CONSTANT_H_
#define TRAINYARD_SCHEDULERS_CONSTANT_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct ConstantOptions {
  // REQUIRES: >= 0.
  double ratio = 1;
  // In updates or epochs; unset: always.
  std::optional<Duration> length = std::nullopt;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Constant(ConstantOptions options = {});

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_CONSTANT_H_

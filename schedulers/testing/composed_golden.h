// The parts of the golden files of composed schedules, by the names that
// tools/golden/schedules.py gives them.
//
//   parts.push_back(ComposedGolden(name));
//
// Thread-safe.
#ifndef TRAINYARD_SCHEDULERS_TESTING_COMPOSED_GOLDEN_H_
#define TRAINYARD_SCHEDULERS_TESTING_COMPOSED_GOLDEN_H_

#include <stdexcept>
#include <string>

#include "schedulers/constant.h"
#include "schedulers/cosine_annealing.h"
#include "schedulers/exponential.h"
#include "schedulers/linear.h"
#include "schedulers/multi_step.h"
#include "schedulers/polynomial.h"
#include "schedulers/schedule.h"
#include "schedulers/step.h"
#include "trainer/train_unit.h"

namespace trainyard {

inline ScheduleFactory ComposedGolden(const std::string& name) {
  if (name == "linear") {
    return Linear({.start_ratio = 0.1, .end_ratio = 1, .length = Updates(100)});
  }
  if (name == "constant") {
    return Constant({.ratio = 0.5, .length = Updates(40)});
  }
  if (name == "exponential") return Exponential({.gamma = 0.99});
  if (name == "step") return Step({.every = Updates(60), .gamma = 0.5});
  if (name == "multi_step") {
    return MultiStep({.at = Updates({50, 120}), .gamma = 0.3});
  }
  if (name == "polynomial") {
    return Polynomial({.power = 2, .length = Updates(140)});
  }
  if (name == "cosine") {
    return CosineAnnealing({.half_period = Updates(550)});
  }
  throw std::runtime_error("no such part: " + name);
}

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_TESTING_COMPOSED_GOLDEN_H_

// A schedule written as a function.
//
//   Lambda([](int64_t update, double base) {
//     return base / (1.0 + 0.01 * static_cast<double>(update));
//   });
//
// The function must be pure, and must not allocate. If it needs the length of
// the run, write a ScheduleFactory: [](const RunLength& run) { ... }.
//
// Thread-safe: if the function is.
#ifndef TRAINYARD_SCHEDULERS_LAMBDA_H_
#define TRAINYARD_SCHEDULERS_LAMBDA_H_

#include <cstdint>
#include <functional>

#include "schedulers/schedule.h"

namespace trainyard {

// As Schedule::ValueAt.
using ScheduleFunction = std::function<double(int64_t update, double base)>;

// Throws std::invalid_argument for an empty function.
ScheduleFactory Lambda(ScheduleFunction function);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_LAMBDA_H_

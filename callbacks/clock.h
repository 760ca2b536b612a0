// The time as the parts that measure it see it: seconds since some moment,
// never falling. They take it as an option, so that a test can be its own
// clock.
//
//   SecondsClock clock = SteadySeconds;
//   const double start = clock();
//
// Thread-safe.
#ifndef TRAINYARD_CALLBACKS_CLOCK_H_
#define TRAINYARD_CALLBACKS_CLOCK_H_

#include <chrono>
#include <functional>

namespace trainyard {

using SecondsClock = std::function<double()>;

inline double SteadySeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_CLOCK_H_

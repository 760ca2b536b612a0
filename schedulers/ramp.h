// Ramp is the straight line of a warm-up.
//
//   const Ramp warmup(updates, {.ratio = 0.1});
//   if (update < warmup.updates()) return warmup.ValueAt(update, base, base);
//
// Thread-safe: immutable.
#ifndef TRAINYARD_SCHEDULERS_RAMP_H_
#define TRAINYARD_SCHEDULERS_RAMP_H_

#include <cstdint>

#include "schedulers/option_check.h"

namespace trainyard {

class Ramp {
 public:
  Ramp(int64_t updates, Level start) : updates_(updates), start_(start) {}

  int64_t updates() const { return updates_; }

  // From the start level at update 0 to `end` at update updates().
  // REQUIRES: 0 <= update < updates().
  double ValueAt(int64_t update, double base, double end) const {
    const double start = start_.Of(base);
    return start + static_cast<double>(update) *
                       ((end - start) / static_cast<double>(updates_));
  }

 private:
  int64_t updates_;
  Level start_;
};

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_RAMP_H_

// Better says which way a metric improves.
//
//   if (Improves(value, best, Better::kLower)) best = value;
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_BETTER_H_
#define TRAINYARD_TRAINER_BETTER_H_

#include <cmath>
#include <optional>

namespace trainyard {

enum class Better { kLower, kHigher };

// Whether `value` is better than `best` by more than `threshold`. Any number is
// better than none, and what is not a number is never better.
inline bool Improves(double value, std::optional<double> best, Better better,
                     double threshold = 0) {
  if (std::isnan(value)) return false;
  if (!best) return true;
  const double gain = better == Better::kLower ? *best - value : value - *best;
  return gain > threshold;
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_BETTER_H_

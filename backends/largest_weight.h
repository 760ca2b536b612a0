// LargestWeight is the weight that all ranks normalise by: the largest that a
// rank had when the first one had any. Backends with several ranks keep it for
// Backend::ReferenceWeight.
//
//   LargestWeight largest;
//   const double reference = largest.Of(weight, collectives);
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_LARGEST_WEIGHT_H_
#define TRAINYARD_BACKENDS_LARGEST_WEIGHT_H_

#include <optional>

#include "backends/collectives.h"
#include "trainer/state.h"

namespace trainyard {

class LargestWeight {
 public:
  // Returns the weight. `weight` is this rank's. While no rank has any, returns
  // 0 and asks again. Collective until it is known.
  double Of(double weight, Collectives& collectives);

  // As the field "reference_weight". Shares are fractions of it, so it decides
  // how they are rounded.
  void Save(State& state) const;
  void Load(const State& state);

 private:
  std::optional<double> value_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_LARGEST_WEIGHT_H_

// PlanEpoch lets ranks with different numbers of batches make the same number
// of steps, in a loop of your own. (The trainer's loaders give all ranks
// equally many batches.) Without a plan, ranks with more batches would wait for
// the others in a collective.
//
//   const EpochPlan plan =
//       PlanEpoch(collectives, batches, UnevenInputs::kJoin);
//   for (int64_t step = 0; step < plan.steps; ++step) {
//     if (const auto batch = plan.Batch(step)) {
//       backend.Backward(Loss(*batch), {.weight = 1});
//     } else {
//       backend.BackwardWithoutBatch({.weight = 0});
//     }
//     …
//   }
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_UNEVEN_INPUTS_H_
#define TRAINYARD_BACKENDS_UNEVEN_INPUTS_H_

#include <cstdint>
#include <optional>

#include "backends/collectives.h"

namespace trainyard {

enum class UnevenInputs {
  // Trains all batches. A rank that has none left adds nothing: the gradient
  // is the mean over the records of the other ranks.
  kJoin,
  // The epoch ends with the rank that has the fewest batches.
  kDrop,
  // A rank that has none left starts again with its first batch: some records
  // count twice.
  kPad,
};

struct EpochPlan {
  // Steps of every rank.
  int64_t steps = 0;
  // Batches of this rank.
  int64_t batches = 0;
  bool repeat = false;

  // Which batch of this rank a step trains. None: call BackwardWithoutBatch.
  std::optional<int64_t> Batch(int64_t step) const {
    if (step < batches) return step;
    return repeat ? std::optional(step % batches) : std::nullopt;
  }
};

// `batches`: of this rank. Throws c10::ValueError on all ranks if no rank has a
// batch, or if one has none and the policy is not kJoin. Collective.
EpochPlan PlanEpoch(Collectives& collectives, int64_t batches,
                    UnevenInputs policy);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_UNEVEN_INPUTS_H_

// PlanEpoch lets processes with different numbers of batches end an epoch
// together. Data that is split over ranks rarely comes out even; without a plan
// those with more batches would wait for the others forever.
//
//   const EpochPlan plan =
//       PlanEpoch(collectives, batches, UnevenInputs::kJoin);
//   for (int64_t step = 0; step < plan.steps; ++step) {
//     if (const auto batch = plan.Batch(step)) {
//       backend.Backward(Loss(*batch), …);
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
  // All batches are trained. A process that has none left takes part with
  // nothing: the gradient is the mean over the records that there are.
  kJoin,
  // The epoch ends with the process that has the fewest.
  kDrop,
  // A process that has none left begins again with its first: some records
  // count twice.
  kPad,
};

struct EpochPlan {
  // Steps that all processes make.
  int64_t steps = 0;
  // Batches of this process.
  int64_t batches = 0;
  bool repeat = false;

  // Which of this process's batches a step trains. None: it takes part without.
  std::optional<int64_t> Batch(int64_t step) const {
    if (step < batches) return step;
    return repeat ? std::optional(step % batches) : std::nullopt;
  }
};

// `batches`: of this process. Throws c10::ValueError on all ranks if no step
// could be made, or one has nothing to repeat. Collective: all ranks must call
// it.
EpochPlan PlanEpoch(Collectives& collectives, int64_t batches,
                    UnevenInputs policy);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_UNEVEN_INPUTS_H_

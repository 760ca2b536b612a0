#include "trainer/step_state.h"

namespace trainyard {

bool StepState::IsGradAccumBoundary(bool is_last_batch) const {
  return is_last_batch || (batch_idx + 1) % grad_accum_steps == 0;
}

void StepState::IncrementBatch(const Increment& increment) {
  ++batch_idx;
  if (!increment.is_training) return;
  samples_seen += increment.all_samples >= 0
                      ? increment.all_samples
                      : increment.batch_size * num_processes;
  if (increment.did_optimizer_step) ++optimizer_step;
}

}  // namespace trainyard

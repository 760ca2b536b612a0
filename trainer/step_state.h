// StepState counts where a run is. It is a plain value: no tensors, no clock,
// and its counters mean the same for any number of processes and accumulation
// steps.
//
//   StepState state{.grad_accum_steps = 4};
//   const bool update = state.IsGradAccumBoundary(/*is_last_batch=*/false);
//   state.IncrementBatch({.batch_size = 32, .did_optimizer_step = update});
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_STEP_STATE_H_
#define TRAINYARD_TRAINER_STEP_STATE_H_

#include <cstdint>

namespace trainyard {

struct StepState {
  // Batches finished in this epoch, on this process.
  int64_t batch_idx = 0;
  // Optimizer updates since the run began. Updates that were skipped do not
  // count.
  int64_t optimizer_step = 0;
  // Samples trained on since the run began, over all processes.
  int64_t samples_seen = 0;
  // Epochs finished. People are shown epoch + 1.
  int64_t epoch = 0;
  // Batches per update. REQUIRES: >= 1.
  int64_t grad_accum_steps = 1;
  // Processes that train together. REQUIRES: >= 1.
  int64_t num_processes = 1;

  struct Increment {
    // Samples in the batch, on this process.
    int64_t batch_size = 0;
    // Those of all processes; -1: as many on each.
    int64_t all_samples = -1;
    // Whether the optimizer's parameters changed.
    bool did_optimizer_step = false;
    // Evaluation counts batches, and nothing else.
    bool is_training = true;
  };

  // Whether the current batch ends an accumulation window. The epoch's last
  // batch always does, so that no gradient is carried over or lost.
  bool IsGradAccumBoundary(bool is_last_batch) const;

  // Counts the current batch as done.
  void IncrementBatch(const Increment& increment);

  // Starts counting batches from 0; the other counters go on.
  void ResetEpoch() { batch_idx = 0; }

  friend bool operator==(const StepState&, const StepState&) = default;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_STEP_STATE_H_

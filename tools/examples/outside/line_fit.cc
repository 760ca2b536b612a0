// A training loop without the trainer and without libtorch: fits the slope of a
// line by gradient descent, with two libraries of Trainyard. Run it from this
// folder:
//
//   ../../bazel run //:line_fit
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "schedulers/cosine.h"
#include "trainer/step_state.h"

int main() {
  constexpr double kSlope = 2.0;
  constexpr int64_t kEpochs = 5;
  constexpr int64_t kBatches = 16;
  trainyard::StepState state{.grad_accum_steps = 4};

  trainyard::RunLength run{
      .num_epochs = kEpochs,
      .updates_per_epoch = kBatches / state.grad_accum_steps};
  run.total_updates = run.num_epochs * run.updates_per_epoch;
  const std::unique_ptr<trainyard::Schedule> schedule =
      trainyard::Cosine({.warmup = trainyard::Updates(2)})(run);

  double slope = 0;
  std::printf("epoch  updates  samples  rate    slope\n");
  for (; state.epoch < kEpochs; ++state.epoch) {
    state.ResetEpoch();
    double gradient = 0;
    double rate = 0;
    while (state.batch_idx < kBatches) {
      // One sample per batch: y = kSlope * x; the loss is the squared error.
      const double x = 1.0 + static_cast<double>(state.batch_idx % 4) / 4;
      gradient += 2 * (slope - kSlope) * x * x /
                  static_cast<double>(state.grad_accum_steps);
      const bool update = state.IsGradAccumBoundary(
          /*is_last_batch=*/state.batch_idx + 1 == kBatches);
      if (update) {
        rate = schedule->ValueAt(state.optimizer_step, /*base=*/0.15);
        slope -= rate * gradient;
        gradient = 0;
      }
      state.IncrementBatch({.batch_size = 1, .did_optimizer_step = update});
    }
    std::printf("%5d  %7d  %7d  %.4f  %.4f\n",
                static_cast<int>(state.epoch) + 1,
                static_cast<int>(state.optimizer_step),
                static_cast<int>(state.samples_seen), rate, slope);
  }
  return std::abs(slope - kSlope) < 0.01 ? EXIT_SUCCESS : EXIT_FAILURE;
}

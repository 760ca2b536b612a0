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
#include "trainer/run_clock.h"

int main() {
  constexpr double kSlope = 2.0;
  constexpr int64_t kEpochs = 5;
  constexpr int64_t kBatches = 16;
  trainyard::RunClock clock({.grad_accum_steps = 4});

  const int64_t updates_per_epoch = kBatches / clock.grad_accum_steps();
  const trainyard::RunLength run{.num_epochs = kEpochs,
                                 .updates_per_epoch = updates_per_epoch,
                                 .total_updates = kEpochs * updates_per_epoch};
  const std::unique_ptr<trainyard::Schedule> schedule =
      trainyard::Cosine({.warmup = trainyard::Updates(2)})(run);

  double slope = 0;
  std::printf("epoch  updates  samples  rate    slope\n");
  for (; clock.epoch() < kEpochs; clock.EndEpoch()) {
    clock.StartEpoch();
    double gradient = 0;
    double rate = 0;
    while (clock.epoch_batches() < kBatches) {
      clock.StartBatch();
      // One sample per batch: y = kSlope * x; the loss is the squared error.
      const int64_t batch = clock.epoch_batches();
      const double x = 1.0 + static_cast<double>(batch % 4) / 4;
      gradient += 2 * (slope - kSlope) * x * x /
                  static_cast<double>(clock.grad_accum_steps());
      if (clock.EndsWindow(/*last_batch=*/batch + 1 == kBatches)) {
        rate = schedule->ValueAt(clock.updates(), /*base=*/0.15);
        slope -= rate * gradient;
        gradient = 0;
        clock.CountUpdate();
      }
      clock.CountBatch(/*samples=*/1);
    }
    std::printf("%5d  %7d  %7d  %.4f  %.4f\n",
                static_cast<int>(clock.epoch()) + 1,
                static_cast<int>(clock.updates()),
                static_cast<int>(clock.samples()), rate, slope);
  }
  return std::abs(slope - kSlope) < 0.01 ? EXIT_SUCCESS : EXIT_FAILURE;
}

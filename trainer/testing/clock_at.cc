#include "trainer/testing/clock_at.h"

namespace trainyard {

RunClock ClockAt(const ClockPosition& position) {
  RunClock clock({.num_processes = position.num_processes});
  for (int64_t i = 0; i < position.updates; ++i) clock.CountUpdate();
  for (int64_t i = 0; i < position.epoch; ++i) {
    clock.CountEpoch();
    clock.EndEpoch();
  }
  for (int64_t i = 0; i < position.epoch_batches; ++i) clock.CountBatch(0);
  if (position.samples > 0) {
    clock.CountBatch(position.samples);
    clock.SetEpochBatches(position.epoch_batches);
  }
  return clock;
}

ClockPosition PositionOf(const RunClock& clock) {
  return {.epoch = clock.epoch(),
          .epoch_batches = clock.epoch_batches(),
          .updates = clock.updates(),
          .samples = clock.samples(),
          .num_processes = clock.num_processes()};
}

}  // namespace trainyard

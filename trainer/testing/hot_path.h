// MeasureSteps counts what a training step costs on the stand-in in steady
// state: waits of the host, copies, collectives.
//
//   const StepCosts costs = MeasureSteps(*backend, "sp");
//   EXPECT_THAT(costs.waits, IsEmpty());
//
// The run clips by norm, has a schedule and tracks its loss. Thread-compatible.
#ifndef TRAINYARD_TRAINER_TESTING_HOT_PATH_H_
#define TRAINYARD_TRAINER_TESTING_HOT_PATH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/testing/counted_backend.h"
#include "backends/testing/standin/standin_count.h"
#include "trainer/checkpoint_options.h"

namespace trainyard {

struct HotPathOptions {
  // Also the default callbacks, with a progress bar that draws ten times a
  // second of a run in which a step takes 10 ms, and an average of the weights.
  bool callbacks = false;
  CheckpointOptions checkpoint = {};
  // Of the backend, if its collectives are counted.
  const CountingCollectives* counting = nullptr;
};

struct StepCosts {
  int64_t steps = 0;
  // Of all steps together.
  StandInCount counts;
  // What made the host wait for the device.
  std::vector<std::string> waits;
  // Collectives in which the host waited for the other ranks.
  int64_t blocking_collectives = 0;
};

// Trains the line of LineRig on the backend. The first steps do not count: they
// make state and connect the ranks. Prints the costs per step under `name`.
StepCosts MeasureSteps(Backend& backend, const std::string& name,
                       const HotPathOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TESTING_HOT_PATH_H_

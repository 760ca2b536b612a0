// RetentionOptions says which checkpoints are kept. Free of libtorch.
//
//   const RetentionOptions keep{.last = 3, .best = 1, .metric = "eval_loss"};
//   for (const StepInfo& step : StepsToRemove(steps, keep)) {
//     Remove(step.path);
//   }
//
// The newest checkpoint is always kept, and so is the best one if `best` is
// set: no options leave a folder empty. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RETENTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RETENTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/better.h"

namespace trainyard {

// What the manifest says about a checkpoint.
struct StepInfo {
  int64_t step = 0;
  int64_t epoch = 0;
  // Counts saves. Checkpoints are ordered by it, because steps and clocks may
  // go back.
  int64_t sequence = 0;
  // Bytes of all files except the manifest.
  uint64_t bytes = 0;
  // Microseconds since 1970, by the clock of the machine that saved it.
  int64_t wall_time_us = 0;
  // Whether the run was finished.
  bool finished = false;
  std::map<std::string, double> metrics = {};
  std::string path = {};
};

struct RetentionOptions {
  // Keep the newest `last` checkpoints. Unset: keep all. REQUIRES: >= 1.
  std::optional<int> last = 3;
  // Keep also the `best` checkpoints with the best metric. REQUIRES: >= 0.
  int best = 0;
  // The metric of `best`; a checkpoint that lacks it, or has NaN, is not among
  // the best. Required if best > 0.
  std::string metric = {};
  Better better = Better::kLower;
  // Keep also the checkpoints whose step is a multiple of this. REQUIRES: >= 1.
  std::optional<int64_t> every = std::nullopt;
};

// Throws std::invalid_argument, naming the field, if the options are
// inconsistent.
void CheckRetention(const RetentionOptions& options);

// Returns the checkpoints that are not kept, in the order in which they were
// saved.
std::vector<StepInfo> StepsToRemove(std::vector<StepInfo> steps,
                                    const RetentionOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RETENTION_H_

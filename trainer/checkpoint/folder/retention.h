// Which checkpoints stay. Free of libtorch.
//
//   RetentionOptions keep{.last = 3, .best = 1, .metric = "eval_loss"};
//   for (const StepInfo& step : StepsToRemove(steps, keep)) { … }
//
// The newest stays always, and so does the best if one is asked for: what is
// asked for can leave no folder empty. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RETENTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RETENTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/better.h"

namespace trainyard {

// What is known of a checkpoint without reading its tensors.
struct StepInfo {
  int64_t step = 0;
  int64_t epoch = 0;
  // The higher, the later it was saved; steps may go back, and clocks too.
  int64_t sequence = 0;
  // Bytes of all its files but the manifest.
  uint64_t bytes = 0;
  // Microseconds since 1970, by the clock of who saved it.
  int64_t wall_time_us = 0;
  // Whether the run had come to its end.
  bool finished = false;
  std::map<std::string, double> metrics = {};
  std::string path = {};
};

struct RetentionOptions {
  // The last so many stay; 0 keeps all. REQUIRES: >= 0.
  int last = 3;
  // So many with the best metric stay as well. REQUIRES: >= 0.
  int best = 0;
  // A checkpoint without it, or for which it is no number, is not among the
  // best. Required if best > 0.
  std::string metric = {};
  Better better = Better::kLower;
  // Every step that is a multiple of this stays as well; 0: none does.
  // REQUIRES: >= 0.
  int64_t every = 0;
};

// Throws std::invalid_argument if the options cannot be.
void CheckRetention(const RetentionOptions& options);

// In the order in which they were saved.
std::vector<StepInfo> StepsToRemove(std::vector<StepInfo> steps,
                                    const RetentionOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RETENTION_H_

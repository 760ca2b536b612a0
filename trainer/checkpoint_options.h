// CheckpointOptions says where and when a run saves checkpoints; Resume and
// ResumeFrom say whether it resumes, and from which checkpoint.
//
//   trainer.Train({.data = train,
//                  .length = Epochs(1),
//                  .checkpoint = {.directory = "run",
//                                 .save = Every(Updates(1000))},
//                  .resume = Resume::kIfPresent});
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_OPTIONS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "trainer/checkpoint/folder/retention.h"
#include "trainer/io/file_system.h"
#include "trainer/train_unit.h"

namespace trainyard {

class Checkpointer;  // trainer/checkpoint/checkpointer.h

struct CheckpointOptions {
  enum class Failure { kThrow, kWarn };

  // Created if it does not exist. Empty: nothing is saved, unless there is a
  // `checkpointer`.
  std::string directory = {};
  // For nodes that share no disk: each node saves a complete checkpoint of its
  // own, and a run resumes from the newest that all nodes have. False: all
  // ranks must see the same directory.
  bool save_per_node = false;
  // When to save. A run that ends without an error saves once more.
  Period save = Every(Epochs(1));
  // Which checkpoints to keep when a new one is saved. Only a checkpoint right
  // after an evaluation has metrics: to keep the best, evaluate and save at the
  // same times.
  RetentionOptions keep = {};
  // Writes a copy of the state in the background while training continues.
  // False: training waits for the disk.
  bool asynchronous = true;
  // What to do if a save fails, e.g. on a full disk: end the run, or log.
  Failure on_failure = Failure::kThrow;
  // Keeps the checkpoints instead of a store in `directory`, which must be
  // empty then; save_per_node, keep and files are not used.
  std::shared_ptr<Checkpointer> checkpointer = nullptr;
  // The file system of the store. Must outlive the run.
  FileSystem* files = &RealFileSystem();

  // Whether checkpoints are saved at all.
  bool enabled() const { return !directory.empty() || checkpointer != nullptr; }
};

enum class Resume {
  // Starts from the beginning. An error if the directory has checkpoints: the
  // new ones would replace them.
  kNever,
  // Resumes if there is a checkpoint, otherwise starts from the beginning.
  kIfPresent,
  // Resumes. An error if there is no checkpoint.
  kRequired
};

// What a run resumes from, and what it takes over.
struct ResumeFrom {
  // The step of one of the run's own checkpoints, instead of the newest.
  // REQUIRES: Resume::kRequired.
  std::optional<int64_t> step = std::nullopt;
  // The path of a checkpoint, e.g. "first_run/step-0000012000", or of another
  // run's directory (its newest checkpoint). With kIfPresent, the run's own
  // checkpoints have precedence, so that a run that is interrupted and started
  // again continues where it was. REQUIRES: not kNever, and `step` is not set.
  std::optional<std::string> path = std::nullopt;
  // Resumes weights, position, callbacks and history, but not the optimizers:
  // they start with fresh state and the configured fields, and schedules start
  // again for the remaining updates.
  bool fresh_optimizers = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_OPTIONS_H_

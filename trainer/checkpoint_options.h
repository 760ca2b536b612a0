// CheckpointOptions says where and when a run saves checkpoints; Resume, whether
// it resumes from one.
//
//   trainer.Train({.data = train,
//                  .checkpoint = {.directory = "run",
//                                 .every = Every(Updates(1000))},
//                  .resume = Resume::kIfPresent});
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_OPTIONS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_OPTIONS_H_

#include <string>

#include "trainer/checkpoint/folder/retention.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct CheckpointOptions {
  enum class Failure { kThrow, kWarn };

  // Created if it does not exist. Empty: nothing is saved.
  std::string directory = {};
  // For nodes that share no disk: each node saves a complete checkpoint of its
  // own, and a run resumes from the newest that all nodes have. False: all ranks
  // must see the same directory.
  bool save_per_node = false;
  // How often to save. A run that ends without an error saves once more.
  Period every = Every(Epochs(1));
  // Which checkpoints to keep when a new one is saved. Only a checkpoint right
  // after an evaluation has metrics: to keep the best, evaluate and save at the
  // same times.
  RetentionOptions keep = {};
  // Writes a copy of the state in the background while training continues.
  // False: training waits for the disk.
  bool asynchronous = true;
  // What to do if a save fails, e.g. on a full disk: end the run, or log.
  Failure on_failure = Failure::kThrow;
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

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_OPTIONS_H_

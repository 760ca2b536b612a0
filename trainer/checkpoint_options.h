// Where and when a run saves itself, and whether it goes on from there.
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

  // Made if it is not there. Empty: nothing is saved.
  std::string directory = {};
  // Whether each node saves a checkpoint of its own, complete by itself, for
  // nodes that share no disk. A run resumes from the newest that all nodes
  // have. False: all processes must see the same folder.
  bool save_per_node = false;
  // A run that ends, but for an error, saves itself once more at its end.
  Period every = Every(Epochs(1));
  // What stays when a new one has been saved. Only checkpoints that fall on an
  // evaluation have metrics: to keep the best, let `every` and
  // TrainOptions::evaluate be the same.
  RetentionOptions keep = {};
  // Writes while training goes on, from a copy of the state. False: training
  // waits for the disk.
  bool asynchronous = true;
  // Whether a save that fails (a full disk) ends the run.
  Failure on_failure = Failure::kThrow;
};

enum class Resume {
  // Starts anew. An error if the folder has checkpoints already: they would be
  // lost to the new ones.
  kNever,
  kIfPresent,
  kRequired
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_OPTIONS_H_

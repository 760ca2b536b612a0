// Checkpointer is the place where a run saves its checkpoints and from which it
// resumes. CheckpointStore, a folder, is the default. A run that keeps its
// checkpoints elsewhere implements this interface and passes it as
// CheckpointOptions::checkpointer.
//
//   const auto mine = std::make_shared<MyCheckpointer>();
//   trainer.Train({.data = train,
//                  .length = Epochs(1),
//                  .checkpoint = {.checkpointer = mine}});
//
// trainer/checkpoint/testing/checkpointer_conformance.h tests an
// implementation. One thread at a time calls it, but not always the same one:
// asynchronous saves run on a thread of their own.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINTER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINTER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder/retention.h"
#include "trainer/checkpoint/rank_exchange.h"

namespace trainyard {

// A checkpoint that was loaded.
struct Restored {
  Checkpoint checkpoint;
  // Where it was, for messages.
  std::string path;
  // Damaged newer checkpoints that were skipped, and where they are now.
  std::vector<std::string> warnings = {};
};

class Checkpointer {
 public:
  virtual ~Checkpointer() = default;

  // A run calls it once, before any other method. `ranks` connects the ranks of
  // the run and stays valid until the run ends. Collective: all ranks call it.
  virtual absl::Status Start(RankExchange& /*ranks*/) {
    return absl::OkStatus();
  }

  // Saves a checkpoint; it must be durable when OK is returned. Replaces an
  // earlier checkpoint of the same step. After an error all earlier checkpoints
  // are still there. Returns InvalidArgument or FailedPrecondition for a
  // checkpoint that CheckSavable rejects.
  // Collective: all ranks call it with the same step, and all must return OK or
  // all an error.
  virtual absl::Status Save(const Checkpoint& checkpoint) = 0;

  // Loads the intact checkpoint that was saved last, which need not have the
  // highest step. Returns NotFound only if nothing was ever saved: the run
  // starts from the beginning then. Tensors are on the CPU, in name order.
  // Collective: all ranks call it, and all must get the same step.
  virtual absl::StatusOr<Restored> Latest() = 0;

  // Loads the checkpoint of a step. Returns NotFound if there is none.
  // Collective: all ranks call it.
  virtual absl::StatusOr<Restored> Load(int64_t step) = 0;

  // Returns the intact checkpoints in the order in which they were saved.
  virtual absl::StatusOr<std::vector<StepInfo>> List() = 0;

  // Returns where Save puts the checkpoint of a step, for messages and events.
  // Must be thread-safe: it is also called during an asynchronous save.
  virtual std::string PathOf(int64_t step) const = 0;

  // Returns problems that did not make a save fail, each of them once.
  virtual std::vector<std::string> TakeWarnings() { return {}; }

  // The share of the tensors that Save reads on this rank. Before an
  // asynchronous save only these are copied. The default is all tensors.
  virtual RankShare share() const { return {}; }
};

// Returns OK if the checkpoint may be saved: its step is not negative
// (InvalidArgument) and no tensor contains NaN, except in the part "gradients"
// (FailedPrecondition, naming the tensor).
absl::Status CheckSavable(const Checkpoint& checkpoint);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINTER_H_

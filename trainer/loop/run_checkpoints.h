// RunCheckpoints is the trainer's side of a checkpoint folder: opens it, finds
// where to go on, saves, and turns errors into what the options ask for.
//
//   RunCheckpoints checkpoints(options.checkpoint, backend);
//   std::optional<Restored> restored = checkpoints.Find(options.resume);
//   const std::string path = checkpoints.Save(checkpoint);
//   checkpoints.Finish();
//
// Several processes write a share each, and tell each other through collectives
// of their own, so that training goes on meanwhile.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_RUN_CHECKPOINTS_H_
#define TRAINYARD_TRAINER_LOOP_RUN_CHECKPOINTS_H_

#include <absl/status/status.h>

#include <memory>
#include <optional>
#include <string>

#include "backends/backend.h"
#include "trainer/checkpoint/async_writer.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint_options.h"

namespace trainyard {

class RunCheckpoints {
 public:
  // Throws if the folder cannot be used, or another run writes to it.
  // Collective: all ranks must call it, as all methods.
  RunCheckpoints(const CheckpointOptions& options, Backend& backend);

  // The newest sound checkpoint, if the run is to go on from one. Logs what was
  // damaged and passed over. Throws if `resume` cannot be done.
  std::optional<Restored> Find(Resume resume);

  // Returns the checkpoint's path. Throws, or logs, if this one or, in the
  // background, the one before failed.
  std::string Save(const Checkpoint& checkpoint);

  // Waits until all is on the disk. Throws or logs as Save.
  void Finish();

 private:
  void Handle(const absl::Status& status) const;

  CheckpointOptions options_;
  // Null for a single process.
  std::unique_ptr<RankExchange> ranks_;
  std::unique_ptr<CheckpointStore> store_;
  std::optional<AsyncCheckpointWriter> writer_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_RUN_CHECKPOINTS_H_

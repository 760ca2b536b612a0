// RunCheckpoints connects a run to its checkpointer: it opens the store, or
// starts the checkpointer of the options, finds the checkpoint to resume from,
// saves, and handles errors as the options say.
//
//   RunCheckpoints checkpoints(options.checkpoint, backend);
//   std::optional<Restored> restored =
//       checkpoints.Find(options.resume, options.resume_from);
//   const std::string path = checkpoints.Save(checkpoint);
//   checkpoints.Finish();
//
// Several ranks exchange messages through a communicator of their own, so that
// training continues while they save.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_RUN_CHECKPOINTS_H_
#define TRAINYARD_TRAINER_LOOP_RUN_CHECKPOINTS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>

#include "backends/backend.h"
#include "trainer/checkpoint/async_writer.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/checkpointer.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint_options.h"

namespace trainyard {

class RunCheckpoints {
 public:
  // Throws StatusError if the directory cannot be used, e.g. because another
  // run writes to it. Collective: all ranks must call it, like all methods.
  RunCheckpoints(const CheckpointOptions& options, Backend& backend);

  // Loads the checkpoint to resume from; nothing if the run starts from the
  // beginning. Logs a warning for each damaged checkpoint that was skipped.
  // Throws c10::ValueError if the options cannot be fulfilled.
  std::optional<Restored> Find(Resume resume, const ResumeFrom& from = {});

  // Saves a checkpoint and returns its path. If this save, or an earlier one in
  // the background, has failed: throws StatusError, or logs a warning.
  std::string Save(const Checkpoint& checkpoint);

  // Waits until all saves are durable. Throws or logs like Save.
  void Finish();

 private:
  Restored LoadPath(const std::string& path) const;
  Restored LoadStep(int64_t step);
  void Handle(const absl::Status& status) const;

  CheckpointOptions options_;
  // For messages.
  std::string place_;
  // Null for a single rank.
  std::unique_ptr<RankExchange> ranks_;
  // The store, or the user's checkpointer.
  std::shared_ptr<Checkpointer> checkpointer_;
  std::optional<AsyncCheckpointWriter> writer_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_RUN_CHECKPOINTS_H_

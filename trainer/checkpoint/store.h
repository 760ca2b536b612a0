// CheckpointStore keeps the checkpoints of a run in a folder. A checkpoint is
// there as a whole or not at all, whatever ends the process or the machine, and
// one that was damaged since is never loaded.
//
//   auto store = CheckpointStore::Open({.directory = "run"});
//   if (!store.ok()) return store.status();
//   absl::Status saved = (*store)->Save(checkpoint);   // on the disk if OK
//   absl::StatusOr<Restored> latest = (*store)->Latest();
//   if (absl::IsNotFound(latest.status())) { … start from the beginning … }
//
// With `ranks`, several processes write one checkpoint: process 0 locks,
// commits and removes; tensors are taken to be the same in all processes, which
// write a share each; parts are each process's own. All must see the same
// folder, or, if RankExchange::leader says so, those of one node: then each
// node writes a checkpoint of its own, with all tensors. Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STORE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STORE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder/retention.h"
#include "trainer/checkpoint/folder/run_folder.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/step_share.h"
#include "trainer/io/file_system.h"

namespace trainyard {

struct CheckpointStoreOptions {
  // Made if it is not there. Required.
  std::string directory;
  // What stays when a new one has been saved.
  RetentionOptions keep = {};
  // For reading only: nothing is locked, made, moved or removed.
  Access access = Access::kWrite;
  // The run's other processes. Must outlive the store. None: a single process.
  RankExchange* ranks = nullptr;
  // The program's name and version, for people.
  std::string producer = "trainyard";
  FileSystem* files = &RealFileSystem();
};

// A checkpoint that was loaded.
struct Restored {
  Checkpoint checkpoint;
  std::string path;
  // Newer ones that were damaged and passed over, and where they are now.
  std::vector<std::string> warnings = {};
};

class CheckpointStore {
 public:
  // Unavailable, naming the process, if another run writes to the folder.
  // FailedPrecondition if a process does not see the folder of its leader.
  // Throws std::invalid_argument if `keep` cannot be.
  // Collective: all ranks must call it.
  static absl::StatusOr<std::unique_ptr<CheckpointStore>> Open(
      CheckpointStoreOptions options);
  ~CheckpointStore();

  // After an error, what was there is there still. A step that is there already
  // is replaced. FailedPrecondition, naming the tensor, if one contains NaN.
  // Collective: all ranks must call it, and all get the same answer.
  absl::Status Save(const Checkpoint& checkpoint);

  // The newest that is sound. Damaged ones are passed over and moved to
  // quarantine/. NotFound if there is none at all; DataLoss if there are and
  // all are damaged: a run must not begin anew by accident. Of several nodes
  // the newest that all have; FailedPrecondition if there is none.
  // Collective: all ranks must call it, and all get the same step.
  absl::StatusOr<Restored> Latest();

  // That one or an error. NotFound if it is not there.
  absl::StatusOr<Restored> Load(int64_t step);

  // In the order in which they were saved.
  absl::StatusOr<std::vector<StepInfo>> List();

  // What went wrong without harm: old checkpoints that could not be removed.
  // Each is returned once.
  std::vector<std::string> TakeWarnings();

  // What this process writes.
  ShareOf share() const;

  const std::string& directory() const { return options_.directory; }

 private:
  CheckpointStore(CheckpointStoreOptions options, RunFolder folder,
                  std::vector<int> group);
  absl::StatusOr<Restored> LoadFrom(const std::string& path);
  absl::StatusOr<Restored> FindLatest();
  void ApplyRetention();

  CheckpointStoreOptions options_;
  RunFolder folder_;
  // The processes that write to this one's folder, in order.
  std::vector<int> group_;
  std::string run_uuid_;
  std::vector<std::string> warnings_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STORE_H_

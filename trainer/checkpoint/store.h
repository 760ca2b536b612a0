// CheckpointStore keeps the checkpoints of a run in a folder. A checkpoint is
// there completely or not at all, even if the process is killed or the machine
// loses power, and a damaged checkpoint is never loaded.
//
//   auto store = CheckpointStore::Open({.directory = "run"});
//   if (!store.ok()) return store.status();
//   absl::Status saved = (*store)->Save(checkpoint);  // durable if OK
//   absl::StatusOr<Restored> latest = (*store)->Latest();
//   if (absl::IsNotFound(latest.status())) return StartFromTheBeginning();
//
// With `ranks`, all ranks of a run write one checkpoint together. They must
// have the same tensors, of which each writes a share; parts are each rank's
// own. Rank 0 locks the folder, commits and deletes. All ranks must see the
// same folder, unless RankExchange::leader gives each node a folder of its own:
// then every node writes a complete checkpoint. Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STORE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STORE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/checkpointer.h"
#include "trainer/checkpoint/folder/retention.h"
#include "trainer/checkpoint/folder/run_folder.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/io/file_system.h"

namespace trainyard {

struct CheckpointStoreOptions {
  // Created if it does not exist. Required.
  std::string directory;
  // Which checkpoints are kept after a save.
  RetentionOptions keep = {};
  // kRead: nothing is locked, created, moved or deleted, and Save fails.
  Access access = Access::kWrite;
  // The ranks of the run. Must outlive the store.
  RankExchange* ranks = &SingleRank();
  // Name and version of the program, written to the manifest for people.
  std::string producer = "trainyard";
  FileSystem* files = &RealFileSystem();
};

class CheckpointStore final : public Checkpointer {
 public:
  // Opens the folder. Returns Unavailable, naming the process, if another run
  // writes to it, and FailedPrecondition if a rank does not see the folder of
  // its leader. Throws std::invalid_argument if `keep` is inconsistent.
  // Collective: all ranks must call it.
  static absl::StatusOr<std::unique_ptr<CheckpointStore>> Open(
      CheckpointStoreOptions options);
  ~CheckpointStore() override;

  absl::Status Save(const Checkpoint& checkpoint) override;

  // Damaged checkpoints are skipped, with a warning, and moved to quarantine/.
  // Returns DataLoss if there are checkpoints and all are damaged, so that a
  // run never starts from the beginning by accident. If each node has its own
  // folder: loads the newest checkpoint that all nodes have, and returns
  // FailedPrecondition if there is none.
  absl::StatusOr<Restored> Latest() override;

  // Returns DataLoss if the checkpoint is damaged.
  absl::StatusOr<Restored> Load(int64_t step) override;

  absl::StatusOr<std::vector<StepInfo>> List() override;

  std::string PathOf(int64_t step) const override;

  // Old checkpoints that could not be deleted.
  std::vector<std::string> TakeWarnings() override;

  RankShare share() const override;

  const std::string& directory() const { return options_.directory; }

 private:
  CheckpointStore(CheckpointStoreOptions options, RunFolder folder,
                  std::vector<int> group);
  absl::StatusOr<Restored> LoadFrom(const std::string& path);
  absl::StatusOr<Restored> FindLatest();
  void ApplyRetention();

  CheckpointStoreOptions options_;
  RunFolder folder_;
  // The ranks that write to this rank's folder, in order.
  std::vector<int> group_;
  std::string run_uuid_;
  std::vector<std::string> warnings_;
};

// Loads a checkpoint by its path, e.g. "run/step-0000012000", or the newest
// intact one if `path` is the folder of a run. Locks and changes nothing.
// Returns NotFound if there is no checkpoint, DataLoss if it is damaged.
// Collective: all ranks must call it.
absl::StatusOr<Restored> LoadCheckpoint(const std::string& path,
                                        RankExchange& ranks = SingleRank(),
                                        FileSystem& files = RealFileSystem());

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STORE_H_

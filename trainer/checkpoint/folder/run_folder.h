// RunFolder is the folder with the checkpoints of a run. It lists them, and
// lets a checkpoint appear and disappear as a whole. Only one process may write
// to it. Free of libtorch.
//
//   absl::StatusOr<RunFolder> run = RunFolder::Open("run", Access::kWrite);
//   if (!run.ok()) return run.status();
//   absl::StatusOr<std::string> folder = run->Begin(7, bytes);
//   …  // write the files, and the manifest last, into *folder
//   absl::Status done = run->Commit(*folder, 7);  // run/step-0000000007
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RUN_FOLDER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RUN_FOLDER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/folder/file_lock.h"
#include "trainer/checkpoint/folder/retention.h"
#include "trainer/io/file_system.h"

namespace trainyard {

enum class Access { kRead, kWrite };

class RunFolder {
 public:
  struct Listing {
    // The checkpoints with a valid manifest and files of the right size, in the
    // order in which they were saved.
    std::vector<StepInfo> steps;
    // The damaged ones by path, and what is wrong with them.
    std::map<std::string, absl::Status> bad;
  };

  // For writing: creates the folder, takes its lock, and deletes what crashed
  // writers left behind. Returns Unavailable, naming the process, if another
  // one has the lock.
  static absl::StatusOr<RunFolder> Open(const std::string& directory,
                                        Access access,
                                        FileSystem& files = RealFileSystem());

  const std::string& directory() const { return directory_; }

  // Lists the checkpoints. A folder that does not exist has none.
  absl::StatusOr<Listing> List();

  // Creates a temporary folder for the files of a step and returns its path.
  // Returns ResourceExhausted if less than `bytes` are free on the disk.
  absl::StatusOr<std::string> Begin(int64_t step, uint64_t bytes);
  // Atomically publishes the temporary folder as the checkpoint of the step; it
  // is durable if OK is returned. An earlier checkpoint of the step is deleted;
  // anything else under that name is moved to quarantine/.
  absl::Status Commit(const std::string& temporary, int64_t step);
  // Deletes the temporary folder. Errors are ignored.
  void Abandon(const std::string& temporary);

  // Atomically unpublishes the checkpoint (by a rename), then deletes its
  // files.
  absl::Status Remove(const std::string& path);
  // Moves the checkpoint to quarantine/ and returns its new path.
  absl::StatusOr<std::string> Quarantine(const std::string& path);

 private:
  RunFolder(std::string directory, FileSystem& files);
  absl::Status MakeFolders();
  void Sweep();
  absl::Status Explained(const absl::Status& status) const;
  absl::Status Error(int64_t error, const std::string& path,
                     const char* what) const;
  absl::Status RemoveFlat(const std::string& path);

  std::string directory_;
  FileSystem* files_;
  std::vector<FileLock> lock_;  // one, or none for reading
  std::map<std::string, StepInfo> known_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FOLDER_RUN_FOLDER_H_

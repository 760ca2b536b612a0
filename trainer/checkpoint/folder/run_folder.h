// RunFolder is the folder that a run's checkpoints are in: who may write to it,
// what is in it, and how a checkpoint appears and goes as a whole. Free of
// libtorch.
//
//   absl::StatusOr<RunFolder> run = RunFolder::Open("run", Access::kWrite);
//   if (!run.ok()) return run.status();  // "run: process 4711 … writes to it"
//   absl::StatusOr<std::string> folder = run->Begin(7, bytes);
//   // … write files and, last, the manifest into *folder …
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
    // Those with a sound manifest and files of the right size, in the order in
    // which they were saved.
    std::vector<StepInfo> steps;
    // The others, and why.
    std::map<std::string, absl::Status> bad;
  };

  // For writing: makes the folder, takes its lock, and removes what writers
  // that have ended left half done.
  static absl::StatusOr<RunFolder> Open(const std::string& directory,
                                        Access access,
                                        FileSystem& files = RealFileSystem());

  const std::string& directory() const { return directory_; }

  // A folder that is not there has no checkpoints.
  absl::StatusOr<Listing> List();

  // A new folder for the files of a step. ResourceExhausted if the disk has
  // less than `bytes` left.
  absl::StatusOr<std::string> Begin(int64_t step, uint64_t bytes);
  // Makes it the step's; durable when it returns. What was there goes: to
  // quarantine/ unless it was a checkpoint.
  absl::Status Commit(const std::string& temporary, int64_t step);
  // Removes it, as far as that can be done.
  void Abandon(const std::string& temporary);

  // From one moment to the next it is no checkpoint any more.
  absl::Status Remove(const std::string& path);
  // Moves it to quarantine/ and returns where it is.
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

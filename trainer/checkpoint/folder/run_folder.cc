#include "trainer/checkpoint/folder/run_folder.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "trainer/checkpoint/folder/step_names.h"
#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/format/step_writer.h"
#include "trainer/io/output_file.h"

namespace trainyard {
namespace {

using Kind = FileInfo::Kind;

constexpr int64_t kOldSeconds = 24 * 60 * 60;

StepInfo InfoOf(const std::string& path, const pb::Manifest& manifest) {
  StepInfo info{.step = static_cast<int64_t>(manifest.step()),
                .epoch = static_cast<int64_t>(manifest.epoch()),
                .sequence = static_cast<int64_t>(manifest.sequence()),
                .wall_time_us = manifest.wall_time_us(),
                .finished = manifest.finished(),
                .path = path};
  for (const pb::FileEntry& file : manifest.files()) info.bytes += file.size();
  info.metrics.insert(manifest.metrics().begin(), manifest.metrics().end());
  return info;
}

}  // namespace

RunFolder::RunFolder(std::string directory, FileSystem& files)
    : directory_(std::move(directory)), files_(&files) {}

// Adds the owner and the mode of the folder to a permission error.
absl::Status RunFolder::Explained(const absl::Status& status) const {
  FileInfo info;
  if (!absl::IsPermissionDenied(status) || files_->Stat(directory_, info) < 0) {
    return status;
  }
  return absl::PermissionDeniedError(absl::StrFormat(
      "%s (%s belongs to user %d, with mode %o; this process "
      "is user %d)",
      status.message(), directory_, info.owner, info.mode, geteuid()));
}

absl::Status RunFolder::Error(int64_t error, const std::string& path,
                              const char* what) const {
  return Explained(FileError(error, absl::StrCat(path, ": ", what)));
}

absl::Status RunFolder::MakeFolders() {
  for (size_t at = 0; at != std::string::npos;) {
    at = directory_.find('/', at + 1);
    const std::string path = directory_.substr(0, at);
    FileInfo info;
    if (files_->Stat(path, info) == 0) continue;
    const int made = files_->MakeFolder(path);
    if (made == -EEXIST) continue;
    if (made < 0) return Error(made, path, "the folder cannot be created");
    const size_t slash = path.rfind('/');
    const absl::Status synced = SyncFolder(
        slash == std::string::npos ? "." : path.substr(0, slash + 1), *files_);
    if (!synced.ok()) return synced;
  }
  return absl::OkStatus();
}

absl::StatusOr<RunFolder> RunFolder::Open(const std::string& directory,
                                          Access access, FileSystem& files) {
  if (directory.empty()) {
    return absl::InvalidArgumentError(
        "the checkpoint folder has an empty path");
  }
  RunFolder run(directory, files);
  if (access == Access::kRead) return run;
  const absl::Status made = run.MakeFolders();
  if (!made.ok()) return made;
  absl::StatusOr<FileLock> lock =
      FileLock::Take(absl::StrCat(directory, "/LOCK"), files);
  if (absl::IsUnavailable(lock.status())) {
    return absl::UnavailableError(absl::StrCat(directory,
                                               ": another run writes to it (",
                                               lock.status().message(), ")"));
  }
  if (!lock.ok()) return run.Explained(lock.status());
  run.lock_.push_back(*std::move(lock));
  run.Sweep();
  return run;
}

// Errors are ignored: leftovers do no harm.
void RunFolder::Sweep() {
  std::vector<std::string> names;
  if (files_->List(directory_, names) < 0) return;
  const WriterId self = ThisWriter();
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(directory_, "/", name);
    FileInfo info;
    if (files_->Stat(path, info) < 0 || info.kind != Kind::kFolder) continue;
    bool dead = IsTrashName(name);
    if (const auto writer = WriterOfName(name)) {
      // This process has not written yet, so a folder with its pid is from an
      // earlier process.
      dead = HasEnded(*writer, self) ||
             (writer->host == self.host && writer->pid == self.pid) ||
             std::time(nullptr) - info.modified > kOldSeconds;
    }
    if (dead) (void)RemoveFlat(path);
  }
}

absl::StatusOr<RunFolder::Listing> RunFolder::List() {
  Listing listing;
  std::vector<std::string> names;
  const int listed = files_->List(directory_, names);
  if (listed == -ENOENT) return listing;
  if (listed < 0) return Error(listed, directory_, "cannot be read");
  std::map<std::string, StepInfo> known;
  for (const std::string& name : names) {
    if (!StepOfName(name).has_value()) continue;
    const std::string path = absl::StrCat(directory_, "/", name);
    auto info = known_.find(name);
    if (info != known_.end()) {
      known.insert(*info);
      continue;
    }
    const absl::StatusOr<StepReader> step = StepReader::Open(path, *files_);
    if (step.ok()) {
      known.emplace(name, InfoOf(path, step->manifest()));
    } else {
      listing.bad.emplace(path, step.status());
    }
  }
  known_ = std::move(known);
  for (const auto& [name, info] : known_) listing.steps.push_back(info);
  std::sort(listing.steps.begin(), listing.steps.end(),
            [](const StepInfo& a, const StepInfo& b) {
              return a.sequence < b.sequence;
            });
  return listing;
}

absl::StatusOr<std::string> RunFolder::Begin(int64_t step, uint64_t bytes) {
  uint64_t free = 0;
  const int known = files_->FreeBytes(directory_, free);
  if (known < 0)
    return Error(known, directory_, "cannot tell how much space is free");
  if (free < bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        directory_, ": the disk is full: the checkpoint of step ", step,
        " needs ", bytes, " bytes, and ", free, " are free"));
  }
  std::string path = absl::StrCat(
      directory_, "/", TemporaryName(step, ThisWriter(), HexOf(NewUuid())));
  const int made = files_->MakeFolder(path);
  if (made < 0) return Error(made, path, "the folder cannot be created");
  files_->KillPoint("save.folder_made");
  return path;
}

absl::Status RunFolder::Commit(const std::string& temporary, int64_t step) {
  const std::string name = StepName(step);
  const std::string path = absl::StrCat(directory_, "/", name);
  known_.erase(name);
  int renamed = files_->RenameNew(temporary, path);
  const bool replaced = renamed == -EEXIST;
  const bool was_sound =
      replaced && StepReader::Open(path, *files_).status().ok();
  if (replaced) renamed = files_->Exchange(temporary, path);
  if (renamed < 0) return Error(renamed, path, "cannot be renamed to");
  files_->KillPoint("commit.renamed");
  const absl::Status synced = SyncFolder(directory_, *files_);
  if (!synced.ok()) return synced;
  files_->KillPoint("commit.durable");
  // The new checkpoint is durable. Errors about the old one are ignored.
  if (replaced && was_sound) (void)Remove(temporary);
  if (replaced && !was_sound) (void)Quarantine(temporary);
  return absl::OkStatus();
}

void RunFolder::Abandon(const std::string& temporary) {
  (void)RemoveFlat(temporary);
}

absl::Status RunFolder::Remove(const std::string& path) {
  known_.erase(path.substr(path.rfind('/') + 1));
  const std::string trash =
      absl::StrCat(directory_, "/", TrashName(HexOf(NewUuid())));
  const int renamed = files_->RenameNew(path, trash);
  if (renamed < 0) return Error(renamed, path, "cannot be removed");
  files_->KillPoint("remove.renamed");
  // Before any file is deleted: after a power cut the checkpoint is complete or
  // no longer listed.
  const absl::Status synced = SyncFolder(directory_, *files_);
  if (!synced.ok()) return synced;
  return RemoveFlat(trash);
}

absl::StatusOr<std::string> RunFolder::Quarantine(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  known_.erase(name);
  const std::string folder = absl::StrCat(directory_, "/quarantine");
  const int made = files_->MakeFolder(folder);
  if (made < 0 && made != -EEXIST) {
    return Error(made, folder, "the folder cannot be created");
  }
  std::string to = absl::StrCat(folder, "/", name, ".", HexOf(NewUuid()));
  const int renamed = files_->RenameNew(path, to);
  if (renamed < 0)
    return Error(renamed, path, "cannot be moved to quarantine/");
  const absl::Status synced = SyncFolder(directory_, *files_);
  if (!synced.ok()) return synced;
  return to;
}

// Deletes a folder of files. Checkpoints contain no folders: one that does was
// changed by somebody else, and is kept.
absl::Status RunFolder::RemoveFlat(const std::string& path) {
  FileInfo info;
  std::vector<std::string> names;
  int result = files_->Stat(path, info);
  if (result == 0 && info.kind != Kind::kFolder) {
    result = files_->RemoveFile(path);
    return result < 0 ? Error(result, path, "cannot be removed")
                      : absl::OkStatus();
  }
  if (result == 0) result = files_->List(path, names);
  for (const std::string& name : names) {
    if (result < 0) break;
    result = files_->RemoveFile(absl::StrCat(path, "/", name));
    files_->KillPoint("remove.file_removed");
  }
  if (result == 0) result = files_->RemoveFolder(path);
  return result < 0 ? Error(result, path, "cannot be removed")
                    : absl::OkStatus();
}

}  // namespace trainyard

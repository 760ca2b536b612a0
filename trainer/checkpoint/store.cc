#include "trainer/checkpoint/store.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "trainer/checkpoint/folder/step_names.h"
#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/format/step_writer.h"
#include "trainer/checkpoint/step_share.h"

namespace trainyard {
namespace {

// Exchanges statuses and reports between all ranks. Returns all reports, or the
// first error.
absl::StatusOr<std::vector<pb::RankReport>> Agree(RankExchange& ranks,
                                                  const absl::Status& status,
                                                  pb::RankReport report) {
  report.set_error(static_cast<uint32_t>(status.code()));
  report.set_message(std::string(status.message()));
  const auto all = ranks.AllGather(report.SerializeAsString());
  if (!all.ok()) return status.ok() ? all.status() : status;
  std::vector<pb::RankReport> reports;
  for (const std::string& bytes : *all) {
    const size_t rank = reports.size();
    pb::RankReport& said = reports.emplace_back();
    if (!said.ParseFromString(bytes)) {
      return absl::InternalError(
          absl::StrCat("rank ", rank, " sent a malformed save report"));
    }
    if (said.error() == 0) continue;
    if (rank == static_cast<size_t>(ranks.rank())) return status;
    return absl::Status(static_cast<absl::StatusCode>(said.error()),
                        absl::StrCat("rank ", rank, ": ", said.message()));
  }
  return reports;
}

// Checks that every rank sees a folder that its leader makes. Collective.
absl::Status CheckSeen(const CheckpointStoreOptions& options,
                       RankExchange& ranks, RunFolder& folder) {
  if (ranks.world_size() == 1) return absl::OkStatus();
  pb::RankReport made;
  absl::StatusOr<std::string> probe = std::string();
  if (ranks.is_leader()) {
    probe = folder.Begin(0, 0);
    if (probe.ok()) made.set_folder(probe->substr(probe->rfind('/') + 1));
  }
  const auto begun = Agree(ranks, probe.status(), made);
  absl::Status seen = begun.status();
  if (begun.ok()) {
    FileInfo info;
    const std::string path = absl::StrCat(options.directory, "/",
                                          begun->at(ranks.leader()).folder());
    if (options.files->Stat(path, info) < 0) {
      seen = absl::FailedPreconditionError(absl::StrCat(
          options.directory, ": rank ", ranks.rank(),
          " does not see the folder of rank ", ranks.leader(),
          ": their machines do not share this disk; choose a folder that all "
          "ranks see, or set save_per_node"));
    }
    const auto all = Agree(ranks, seen, {});
    if (!all.ok()) seen = all.status();
  }
  if (ranks.is_leader() && probe.ok()) folder.Abandon(*probe);
  return seen;
}

// Returns the folder of the oldest among the newest steps of the leaders, which
// the others should have too. NotFound if no leader has a checkpoint.
absl::StatusOr<std::string> CommonStep(
    const std::vector<pb::RankReport>& reports, const std::string& directory) {
  const pb::RankReport* first = nullptr;
  std::string without;
  for (size_t rank = 0; rank < reports.size(); ++rank) {
    const pb::RankReport& report = reports[rank];
    if (report.leader() != rank) continue;
    if (report.folder().empty()) {
      absl::StrAppend(&without, " ", rank);
    } else if (first == nullptr || report.step() < first->step()) {
      first = &report;
    }
  }
  if (first == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(directory, ": there is no checkpoint"));
  }
  if (!without.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": there is no checkpoint on the node of rank",
                     without, ", but other nodes have ", first->folder(),
                     "; copy the folder of another node there"));
  }
  return first->folder();
}

// All ranks have loaded the checkpoint or none has; all know whether every rank
// has parts of its own. Collective.
void AgreeOnLoaded(RankExchange& ranks, absl::StatusOr<Restored>& restored) {
  pb::RankReport report;
  report.set_own_parts(restored.ok() && restored->checkpoint.own_parts);
  const auto loaded = Agree(ranks, restored.status(), report);
  if (!loaded.ok()) {
    restored = loaded.status();
    return;
  }
  for (const pb::RankReport& other : *loaded) {
    restored->checkpoint.own_parts &= other.own_parts();
  }
}

// Reads a checkpoint's folder. Not collective.
absl::StatusOr<Restored> ReadFolder(const std::string& path, int rank,
                                    FileSystem& files, std::string& run_uuid) {
  const absl::StatusOr<StepReader> step = StepReader::Open(path, files);
  if (!step.ok()) return step.status();
  absl::StatusOr<Checkpoint> checkpoint = ReadStep(*step, rank);
  if (!checkpoint.ok()) return checkpoint.status();
  run_uuid = step->manifest().run_uuid();
  return Restored{.checkpoint = *std::move(checkpoint), .path = path};
}

int64_t NowMicroseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

CheckpointStore::CheckpointStore(CheckpointStoreOptions options,
                                 RunFolder folder, std::vector<int> group)
    : options_(std::move(options)),
      folder_(std::move(folder)),
      group_(std::move(group)),
      run_uuid_(NewUuid()) {}

CheckpointStore::~CheckpointStore() = default;

absl::StatusOr<std::unique_ptr<CheckpointStore>> CheckpointStore::Open(
    CheckpointStoreOptions options) {
  CheckRetention(options.keep);
  RankExchange& ranks = *options.ranks;
  const bool writes = options.access == Access::kWrite;
  absl::StatusOr<RunFolder> folder = RunFolder::Open(
      options.directory, ranks.is_leader() ? options.access : Access::kRead,
      *options.files);
  std::vector<int> group = {ranks.rank()};
  if (writes) {
    pb::RankReport report;
    report.set_leader(static_cast<uint32_t>(ranks.leader()));
    const auto agreed = Agree(ranks, folder.status(), report);
    if (!agreed.ok()) return agreed.status();
    group.clear();
    for (int rank = 0; rank < ranks.world_size(); ++rank) {
      if (agreed->at(rank).leader() == report.leader()) group.push_back(rank);
    }
    const absl::Status seen = CheckSeen(options, ranks, *folder);
    if (!seen.ok()) return seen;
  }
  if (!folder.ok()) return folder.status();
  return std::unique_ptr<CheckpointStore>(new CheckpointStore(
      std::move(options), *std::move(folder), std::move(group)));
}

std::string CheckpointStore::PathOf(int64_t step) const {
  return absl::StrCat(directory(), "/", StepName(step));
}

RankShare CheckpointStore::share() const {
  const int rank = options_.ranks->rank();
  const auto place = std::find(group_.begin(), group_.end(), rank);
  return {.rank = static_cast<int>(place - group_.begin()),
          .world_size = static_cast<int>(group_.size()),
          .global_rank = rank};
}

absl::Status CheckpointStore::Save(const Checkpoint& checkpoint) {
  if (options_.access != Access::kWrite) {
    return absl::InvalidArgumentError(
        absl::StrCat(directory(), ": step ", checkpoint.step,
                     " cannot be saved: the store was opened for reading"));
  }
  if (checkpoint.step < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(directory(), ": the step of the checkpoint is ",
                     checkpoint.step, "; it must be at least 0"));
  }
  RankExchange& ranks = *options_.ranks;
  const bool commits = ranks.is_leader();

  // The leader makes a temporary folder and tells the other ranks its name.
  pb::RankReport begin;
  absl::StatusOr<std::string> folder = std::string();
  if (commits) {
    folder = folder_.Begin(checkpoint.step, SizeOf(checkpoint));
    if (folder.ok()) begin.set_folder(folder->substr(folder->rfind('/') + 1));
    begin.set_save_uuid(NewUuid());
  }
  const auto begun = Agree(ranks, folder.status(), begin);
  if (!begun.ok()) {
    if (commits && folder.ok()) folder_.Abandon(*folder);
    return begun.status();
  }
  const pb::RankReport& led = begun->at(ranks.leader());
  const std::string save_uuid = led.save_uuid();
  if (!commits) folder = absl::StrCat(directory(), "/", led.folder());

  // All ranks write their share.
  StepWriter writer(*folder, save_uuid, *options_.files);
  pb::RankReport wrote;
  absl::Status status;
  try {
    const auto files = WriteShare(checkpoint, share(), writer);
    status = files.status();
    if (files.ok()) wrote.mutable_files()->Add(files->begin(), files->end());
  } catch (const std::exception& error) {
    // Not rethrown here: the other ranks wait for this rank's report.
    status = absl::ResourceExhaustedError(error.what());
  }
  const auto shares = Agree(ranks, status, wrote);
  status = shares.status();

  // The leader commits. Only then is the checkpoint saved.
  if (commits && status.ok()) {
    pb::Manifest manifest;
    manifest.set_format_version(FormatOf(checkpoint));
    manifest.set_min_reader_version(FormatOf(checkpoint));
    manifest.set_producer(options_.producer);
    manifest.set_run_uuid(run_uuid_);
    manifest.set_save_uuid(save_uuid);
    manifest.set_step(static_cast<uint64_t>(checkpoint.step));
    manifest.set_epoch(static_cast<uint64_t>(checkpoint.epoch));
    manifest.set_samples(static_cast<uint64_t>(checkpoint.samples));
    manifest.set_finished(checkpoint.finished);
    manifest.set_wall_time_us(NowMicroseconds());
    manifest.set_world_size(static_cast<uint32_t>(ranks.world_size()));
    manifest.mutable_metrics()->insert(checkpoint.metrics.begin(),
                                       checkpoint.metrics.end());
    manifest.mutable_config()->insert(checkpoint.config.begin(),
                                      checkpoint.config.end());
    for (const int rank : group_) {
      manifest.mutable_files()->MergeFrom(shares->at(rank).files());
    }
    const absl::StatusOr<RunFolder::Listing> old = folder_.List();
    status = old.status();
    if (old.ok()) {
      manifest.set_sequence(
          old->steps.empty()
              ? 1
              : static_cast<uint64_t>(old->steps.back().sequence) + 1);
      status = writer.WriteManifest(manifest);
    }
    if (status.ok()) status = folder_.Commit(*folder, checkpoint.step);
  }
  if (commits && !status.ok()) folder_.Abandon(*folder);
  const auto ended = Agree(ranks, status, {});
  if (!ended.ok()) return ended.status();
  if (commits) ApplyRetention();
  return absl::OkStatus();
}

// Runs after the commit: a checkpoint that cannot be deleted is a warning, not
// an error.
void CheckpointStore::ApplyRetention() {
  const absl::StatusOr<RunFolder::Listing> listing = folder_.List();
  if (!listing.ok()) {
    warnings_.emplace_back(listing.status().message());
    return;
  }
  for (const StepInfo& step : StepsToRemove(listing->steps, options_.keep)) {
    const absl::Status removed = folder_.Remove(step.path);
    if (!removed.ok()) warnings_.emplace_back(removed.message());
  }
}

absl::StatusOr<Restored> CheckpointStore::LoadFrom(const std::string& path) {
  // Later saves belong to the run of the checkpoint.
  return ReadFolder(path, options_.ranks->rank(), *options_.files, run_uuid_);
}

absl::StatusOr<Restored> CheckpointStore::Load(int64_t step) {
  absl::StatusOr<Restored> restored = LoadFrom(PathOf(step));
  AgreeOnLoaded(*options_.ranks, restored);
  return restored;
}

absl::StatusOr<Restored> CheckpointStore::Latest() {
  RankExchange& ranks = *options_.ranks;
  // The leader chooses the step, after it has verified every file of it.
  absl::StatusOr<Restored> restored = Restored();
  pb::RankReport chosen;
  chosen.set_leader(static_cast<uint32_t>(ranks.leader()));
  if (ranks.is_leader()) {
    restored = FindLatest();
    if (restored.ok()) {
      chosen.set_folder(restored->path.substr(restored->path.rfind('/') + 1));
      chosen.set_step(restored->checkpoint.step);
    }
  }
  // A node without checkpoints is not an error yet: that depends on the others.
  const bool none = absl::IsNotFound(restored.status());
  const auto agreed =
      Agree(ranks, none ? absl::OkStatus() : restored.status(), chosen);
  if (!agreed.ok()) return agreed.status();
  const absl::StatusOr<std::string> name = CommonStep(*agreed, directory());
  if (!name.ok()) return name.status();
  const std::string path = absl::StrCat(directory(), "/", *name);
  if (!restored.ok() || restored->path != path) {
    restored = LoadFrom(path);
    // NotFound would mean that no node has a checkpoint.
    if (absl::IsNotFound(restored.status())) {
      restored = absl::FailedPreconditionError(restored.status().message());
    }
  }
  AgreeOnLoaded(ranks, restored);
  return restored;
}

absl::StatusOr<Restored> CheckpointStore::FindLatest() {
  const absl::StatusOr<RunFolder::Listing> listing = folder_.List();
  if (!listing.ok()) return listing.status();
  std::map<std::string, absl::Status> damaged = listing->bad;
  for (const auto& [path, status] : damaged) {
    // Written by a newer program: it is not damaged, so do not skip it.
    if (absl::IsFailedPrecondition(status)) return status;
  }
  for (auto step = listing->steps.rbegin(); step != listing->steps.rend();
       ++step) {
    absl::StatusOr<Restored> restored = LoadFrom(step->path);
    if (absl::IsDataLoss(restored.status())) {
      damaged.emplace(step->path, restored.status());
      continue;
    }
    if (!restored.ok()) return restored.status();
    for (const auto& [path, status] : damaged) {
      std::string warning =
          absl::StrCat("skipped a damaged checkpoint: ", status.message());
      if (options_.access == Access::kWrite) {
        const absl::StatusOr<std::string> where = folder_.Quarantine(path);
        absl::StrAppend(&warning, "; ",
                        where.ok() ? absl::StrCat("it is now ", *where)
                                   : std::string(where.status().message()));
      }
      restored->warnings.push_back(std::move(warning));
    }
    return restored;
  }
  if (damaged.empty()) {
    return absl::NotFoundError(
        absl::StrCat(directory(), ": there is no checkpoint"));
  }
  return absl::DataLossError(absl::StrCat(directory(), ": all ", damaged.size(),
                                          " checkpoints are damaged; ",
                                          damaged.rbegin()->second.message()));
}

absl::StatusOr<std::vector<StepInfo>> CheckpointStore::List() {
  absl::StatusOr<RunFolder::Listing> listing = folder_.List();
  if (!listing.ok()) return listing.status();
  return std::move(listing->steps);
}

std::vector<std::string> CheckpointStore::TakeWarnings() {
  return std::exchange(warnings_, {});
}

absl::StatusOr<Restored> LoadCheckpoint(const std::string& path,
                                        RankExchange& ranks,
                                        FileSystem& files) {
  FileInfo info;
  const bool is_step =
      files.Stat(absl::StrCat(path, "/", kManifestName), info) == 0;
  // All ranks must take the same branch, even if not all see the folder.
  pb::RankReport report;
  report.set_step(is_step ? 1 : 0);
  const auto agreed = Agree(ranks, absl::OkStatus(), report);
  if (!agreed.ok()) return agreed.status();
  if (std::any_of(agreed->begin(), agreed->end(),
                  [](const pb::RankReport& seen) { return seen.step() > 0; })) {
    std::string run_uuid;
    absl::StatusOr<Restored> restored =
        ReadFolder(path, ranks.rank(), files, run_uuid);
    AgreeOnLoaded(ranks, restored);
    return restored;
  }
  const auto store = CheckpointStore::Open({.directory = path,
                                            .access = Access::kRead,
                                            .ranks = &ranks,
                                            .files = &files});
  if (!store.ok()) return store.status();
  return (*store)->Latest();
}

}  // namespace trainyard

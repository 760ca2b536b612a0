#include "trainer/loop/run_checkpoints.h"

#include <c10/util/Exception.h>

#include <exception>
#include <utility>
#include <vector>

#include "backends/gather_text.h"
#include "trainer/checkpoint/store.h"
#include "trainer/error_message.h"
#include "trainer/or_throw.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

class CollectiveExchange final : public RankExchange {
 public:
  CollectiveExchange(Collectives& collectives, bool per_node)
      : collectives_(collectives.ForAnotherThread()),
        leader_(per_node ? FirstOfNode(collectives) : 0) {}

  int rank() const override { return static_cast<int>(collectives_->rank()); }
  int world_size() const override {
    return static_cast<int>(collectives_->num_processes());
  }
  int leader() const override { return leader_; }
  absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) override {
    try {
      return GatherText(*collectives_, mine);
    } catch (const std::exception& e) {
      return absl::UnavailableError(ErrorMessage(e));
    }
  }

 private:
  // Launchers number the processes of a node one after another.
  static int FirstOfNode(const Collectives& collectives) {
    return static_cast<int>(collectives.rank() - collectives.local_rank());
  }

  const std::unique_ptr<Collectives> collectives_;
  const int leader_;
};

void LogAll(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) LOG(WARNING) << warning;
}

}  // namespace

RunCheckpoints::RunCheckpoints(const CheckpointOptions& options,
                               Backend& backend)
    : options_(options),
      place_(options.checkpointer ? "the checkpointer" : options.directory) {
  if (backend.num_processes() > 1) {
    ranks_ = std::make_unique<CollectiveExchange>(backend.collectives(),
                                                  options_.save_per_node);
  }
  RankExchange& ranks = ranks_ ? *ranks_ : SingleRank();
  if (options_.checkpointer) {
    checkpointer_ = options_.checkpointer;
  } else {
    checkpointer_ =
        OrThrow(CheckpointStore::Open({.directory = options_.directory,
                                       .keep = options_.keep,
                                       .ranks = &ranks,
                                       .files = options_.files}));
  }
  OrThrow(checkpointer_->Start(ranks));
  if (options_.asynchronous) writer_.emplace(*checkpointer_);
}

Restored RunCheckpoints::LoadPath(const std::string& path) const {
  absl::StatusOr<Restored> restored =
      LoadCheckpoint(path, ranks_ ? *ranks_ : SingleRank(), *options_.files);
  TORCH_CHECK_VALUE(!absl::IsNotFound(restored.status()),
                    "Train: resume_from.path is ", path,
                    ", but there is no checkpoint");
  return OrThrow(std::move(restored));
}

Restored RunCheckpoints::LoadStep(int64_t step) {
  absl::StatusOr<Restored> restored = checkpointer_->Load(step);
  if (!absl::IsNotFound(restored.status())) return OrThrow(std::move(restored));
  std::string steps;
  for (const StepInfo& info : OrThrow(checkpointer_->List())) {
    steps += " " + std::to_string(info.step);
  }
  C10_THROW_ERROR(ValueError,
                  c10::str("Train: resume_from.step is ", step, ", but ",
                           place_, " has no such checkpoint; it has the steps",
                           steps.empty() ? " (none)" : steps));
}

std::optional<Restored> RunCheckpoints::Find(Resume resume,
                                             const ResumeFrom& from) {
  Restored restored;
  if (from.step) {
    restored = LoadStep(*from.step);
  } else if (from.path && resume == Resume::kRequired) {
    restored = LoadPath(*from.path);
  } else {
    absl::StatusOr<Restored> latest = checkpointer_->Latest();
    if (absl::IsNotFound(latest.status())) {
      if (from.path) return LoadPath(*from.path);
      TORCH_CHECK_VALUE(resume != Resume::kRequired,
                        "Train: there is no checkpoint to resume from in ",
                        place_);
      return std::nullopt;
    }
    restored = OrThrow(std::move(latest));
    TORCH_CHECK_VALUE(
        resume != Resume::kNever, "Train: ", place_,
        " has checkpoints of an earlier run; set resume to continue it, or "
        "choose another directory");
  }
  LogAll(restored.warnings);
  return restored;
}

std::string RunCheckpoints::Save(const Checkpoint& checkpoint) {
  Handle(writer_ ? writer_->Save(checkpoint) : checkpointer_->Save(checkpoint));
  if (!writer_) LogAll(checkpointer_->TakeWarnings());
  return checkpointer_->PathOf(checkpoint.step);
}

void RunCheckpoints::Finish() {
  if (!writer_) return;
  Handle(writer_->Wait());
  LogAll(checkpointer_->TakeWarnings());
}

void RunCheckpoints::Handle(const absl::Status& status) const {
  if (status.ok()) return;
  const absl::Status error(status.code(), "a checkpoint could not be saved: " +
                                              std::string(status.message()));
  if (options_.on_failure == CheckpointOptions::Failure::kThrow) OrThrow(error);
  LOG(WARNING) << error.message() << "; training continues without it";
}

}  // namespace trainyard

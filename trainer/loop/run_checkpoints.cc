#include "trainer/loop/run_checkpoints.h"

#include <c10/util/Exception.h>

#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backends/gather_text.h"
#include "trainer/checkpoint/folder/step_names.h"
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
    : options_(options) {
  if (backend.num_processes() > 1) {
    ranks_ = std::make_unique<CollectiveExchange>(backend.collectives(),
                                                  options_.save_per_node);
  }
  store_ = OrThrow(
      CheckpointStore::Open({.directory = options_.directory,
                             .keep = options_.keep,
                             .ranks = ranks_ ? ranks_.get() : &SingleRank()}));
  if (options_.asynchronous) writer_.emplace(*store_);
}

std::optional<Restored> RunCheckpoints::Find(Resume resume) {
  absl::StatusOr<Restored> latest = store_->Latest();
  if (absl::IsNotFound(latest.status())) {
    TORCH_CHECK_VALUE(resume != Resume::kRequired,
                      "Train: there is no "
                      "checkpoint to resume from in ",
                      options_.directory);
    return std::nullopt;
  }
  Restored restored = OrThrow(std::move(latest));
  TORCH_CHECK_VALUE(
      resume != Resume::kNever, "Train: ", options_.directory,
      " has checkpoints of an earlier run; set resume to go on from them, or "
      "choose another folder");
  LogAll(restored.warnings);
  return restored;
}

std::string RunCheckpoints::Save(const Checkpoint& checkpoint) {
  Handle(writer_ ? writer_->Save(checkpoint) : store_->Save(checkpoint));
  if (!writer_) LogAll(store_->TakeWarnings());
  return options_.directory + "/" + StepName(checkpoint.step);
}

void RunCheckpoints::Finish() {
  if (!writer_) return;
  Handle(writer_->Wait());
  LogAll(store_->TakeWarnings());
}

void RunCheckpoints::Handle(const absl::Status& status) const {
  if (status.ok()) return;
  const std::string message =
      "a checkpoint could not be saved: " + std::string(status.message());
  if (options_.on_failure == CheckpointOptions::Failure::kThrow) {
    throw std::runtime_error(message);
  }
  LOG(WARNING) << message << "; training goes on without it";
}

}  // namespace trainyard

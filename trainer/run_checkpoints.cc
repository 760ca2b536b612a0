#include "trainer/run_checkpoints.h"

#include <c10/util/Exception.h>

#include <stdexcept>
#include <utility>

#include "trainer/checkpoint/folder/step_names.h"
#include "trainer/or_throw.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {

RunCheckpoints::RunCheckpoints(const CheckpointOptions& options,
                               Backend& backend)
    : options_(options) {
  TORCH_CHECK_NOT_IMPLEMENTED(backend.num_processes() == 1,
                              "checkpoints of several processes");
  store_ = OrThrow(CheckpointStore::Open(
      {.directory = options_.directory, .keep = options_.keep}));
  if (options_.asynchronous) writer_.emplace(*store_);
}

std::optional<Restored> RunCheckpoints::Find(Resume resume) {
  absl::StatusOr<Restored> latest = store_->Latest();
  if (absl::IsNotFound(latest.status())) {
    TORCH_CHECK_VALUE(resume != Resume::kRequired, "Train: there is no "
                      "checkpoint to resume from in ", options_.directory);
    return std::nullopt;
  }
  Restored restored = OrThrow(std::move(latest));
  TORCH_CHECK_VALUE(
      resume != Resume::kNever, "Train: ", options_.directory,
      " has checkpoints of an earlier run; set resume to go on from them, or "
      "choose another folder");
  for (const std::string& warning : restored.warnings) LOG(WARNING) << warning;
  return restored;
}

std::string RunCheckpoints::Save(const Checkpoint& checkpoint) {
  Handle(writer_ ? writer_->Save(checkpoint) : store_->Save(checkpoint));
  if (!writer_) {
    for (const std::string& warning : store_->TakeWarnings()) {
      LOG(WARNING) << warning;
    }
  }
  return options_.directory + "/" + StepName(checkpoint.step);
}

void RunCheckpoints::Finish() {
  if (!writer_) return;
  Handle(writer_->Wait());
  for (const std::string& warning : store_->TakeWarnings()) {
    LOG(WARNING) << warning;
  }
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

#include "trainer/run_checkpoints.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "trainer/checkpoint/folder/step_names.h"
#include "trainer/error_message.h"
#include "trainer/or_throw.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

class CollectiveExchange final : public RankExchange {
 public:
  explicit CollectiveExchange(Backend& backend) : backend_(backend) {}

  int rank() const override { return static_cast<int>(backend_.rank()); }
  int world_size() const override {
    return static_cast<int>(backend_.num_processes());
  }
  absl::StatusOr<std::vector<std::string>> AllGather(
      const std::string& mine) override {
    const auto size = static_cast<int64_t>(mine.size());
    at::Tensor bytes = at::empty({size}, at::kByte);
    std::memcpy(bytes.mutable_data_ptr<uint8_t>(), mine.data(), mine.size());
    std::vector<std::string> all;
    try {
      for (const at::Tensor& item :
           backend_.collectives().AllGather(bytes.to(backend_.device()))) {
        const at::Tensor here = item.cpu();
        const auto* data =
            reinterpret_cast<const char*>(here.const_data_ptr<uint8_t>());
        all.emplace_back(data, here.numel());
      }
    } catch (const std::exception& e) {
      return absl::UnavailableError(ErrorMessage(e));
    }
    return all;
  }

 private:
  Backend& backend_;
};

void LogAll(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) LOG(WARNING) << warning;
}

}  // namespace

RunCheckpoints::RunCheckpoints(const CheckpointOptions& options,
                               Backend& backend)
    : options_(options) {
  if (backend.num_processes() > 1) {
    ranks_ = std::make_unique<CollectiveExchange>(backend);
  }
  store_ = OrThrow(CheckpointStore::Open({.directory = options_.directory,
                                          .keep = options_.keep,
                                          .ranks = ranks_.get()}));
  if (options_.asynchronous && ranks_ == nullptr) writer_.emplace(*store_);
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

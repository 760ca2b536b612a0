#include "trainer/checkpoint/testing/memory_checkpointer.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "trainer/checkpoint/parts/snapshot.h"

namespace trainyard {
namespace {

// A copy that shares no memory with the original, in name order.
absl::StatusOr<Checkpoint> CopyOf(const Checkpoint& checkpoint) {
  Snapshot snapshot;
  const absl::Status taken = snapshot.Take(checkpoint);
  if (!taken.ok()) return taken;
  Checkpoint copy = snapshot.checkpoint();
  for (auto& [group, tensors] : copy.tensors) SortByName(tensors);
  return copy;
}

}  // namespace

absl::Status MemoryCheckpointer::Start(RankExchange& ranks) {
  world_size_ = ranks.world_size();
  return absl::OkStatus();
}

absl::Status MemoryCheckpointer::Save(const Checkpoint& checkpoint) {
  const absl::Status savable = CheckSavable(checkpoint);
  if (!savable.ok()) return savable;
  absl::StatusOr<Checkpoint> copy = CopyOf(checkpoint);
  if (!copy.ok()) return copy.status();
  copy->world_size = world_size_;
  std::erase_if(saved_, [&](const Checkpoint& other) {
    return other.step == checkpoint.step;
  });
  saved_.push_back(*std::move(copy));
  return absl::OkStatus();
}

absl::StatusOr<Restored> MemoryCheckpointer::Latest() {
  if (saved_.empty()) {
    return absl::NotFoundError("memory: there is no checkpoint");
  }
  return Load(saved_.back().step);
}

absl::StatusOr<Restored> MemoryCheckpointer::Load(int64_t step) {
  const auto found = std::find_if(
      saved_.begin(), saved_.end(),
      [step](const Checkpoint& other) { return other.step == step; });
  if (found == saved_.end()) {
    return absl::NotFoundError(
        absl::StrCat(PathOf(step), ": there is no such checkpoint"));
  }
  absl::StatusOr<Checkpoint> copy = CopyOf(*found);
  if (!copy.ok()) return copy.status();
  return Restored{.checkpoint = *std::move(copy), .path = PathOf(step)};
}

absl::StatusOr<std::vector<StepInfo>> MemoryCheckpointer::List() {
  std::vector<StepInfo> steps;
  for (const Checkpoint& checkpoint : saved_) {
    steps.push_back({.step = checkpoint.step,
                     .epoch = checkpoint.epoch,
                     .sequence = static_cast<int64_t>(steps.size()) + 1,
                     .finished = checkpoint.finished,
                     .metrics = checkpoint.metrics,
                     .path = PathOf(checkpoint.step)});
  }
  return steps;
}

std::string MemoryCheckpointer::PathOf(int64_t step) const {
  return absl::StrCat("memory/", step);
}

}  // namespace trainyard

#include "trainer/loop/run_state.h"

#include <c10/util/Exception.h>

#include <memory>
#include <utility>
#include <variant>

#include "trainer/error_message.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

// Prefixes of part names in a checkpoint: the part at the start of the window;
// before the end of the run; the sum of all ranks' shares.
constexpr char kWindowStart[] = "window start ";
constexpr char kBeforeEnd[] = "before end ";
constexpr char kOfAll[] = "of all ";

std::string Prefixed(const char* prefix, const std::string& name) {
  return prefix + name;
}

bool HasTensors(const State& state) {
  for (const auto& [name, value] : state.values()) {
    if (std::holds_alternative<std::shared_ptr<const at::Tensor>>(value)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void RunState::AddTensors(TensorGroup group) {
  entries_.push_back({.kind = Kind::kTensors,
                      .name = group.group,
                      .tensors = std::move(group)});
}

void RunState::Add(std::string name, Stateful& part, IfMissing if_missing) {
  entries_.push_back({.kind = Kind::kPart,
                      .name = std::move(name),
                      .if_missing = if_missing,
                      .part = &part});
}

void RunState::AddMoving(std::string name, Stateful& part) {
  entries_.push_back(
      {.kind = Kind::kMoving, .name = std::move(name), .part = &part});
}

void RunState::AddMeans(std::string name, MetricMeans& means) {
  entries_.push_back(
      {.kind = Kind::kMeans, .name = std::move(name), .means = &means});
}

void RunState::AddWindow(std::string name, Stateful& part) {
  entries_.push_back({.kind = Kind::kWindow,
                      .name = std::move(name),
                      .if_missing = IfMissing::kKeep,
                      .part = &part});
}

void RunState::MarkWindowStart() {
  for (const Entry& entry : entries_) {
    if (entry.kind == Kind::kMoving) {
      window_start_[entry.name] = entry.part->SaveState();
    } else if (entry.kind == Kind::kMeans) {
      means_at_window_start_[entry.name] = *entry.means;
    }
  }
}

void RunState::MarkEnd() {
  if (!before_end_.empty()) return;
  for (const Entry& entry : entries_) {
    if (entry.kind != Kind::kMoving && entry.kind != Kind::kPart) continue;
    State state = entry.part->SaveState();
    // The tensors of a moving part (random generators) are small.
    if (entry.kind == Kind::kPart && HasTensors(state)) continue;
    before_end_[entry.name] = std::move(state);
  }
}

void RunState::Collect(bool in_window, Checkpoint& checkpoint) const {
  auto& parts = checkpoint.parts;
  const bool several = backend_.num_processes() > 1;
  for (const Entry& entry : entries_) {
    const std::string at_start = Prefixed(kWindowStart, entry.name);
    switch (entry.kind) {
      case Kind::kTensors: {
        HeldTensors held = entry.tensors.tensors();
        checkpoint.tensors[entry.name] = std::move(held.whole);
        if (!held.slices.empty()) {
          checkpoint.slices[entry.name] = std::move(held.slices);
        }
        break;
      }
      case Kind::kPart:
        parts[entry.name] = entry.part->SaveState();
        break;
      case Kind::kMoving:
        parts[entry.name] = entry.part->SaveState();
        if (in_window) parts[at_start] = window_start_.at(entry.name);
        break;
      case Kind::kMeans:
        parts[entry.name] = entry.means->SaveState();
        if (several) {
          parts[Prefixed(kOfAll, entry.name)] =
              entry.means->SaveState(backend_);
        }
        if (in_window) {
          parts[at_start] =
              means_at_window_start_.at(entry.name).SaveState(backend_);
        }
        break;
      case Kind::kWindow:
        if (in_window) parts[entry.name] = entry.part->SaveState();
        break;
    }
  }
  for (const auto& [name, state] : before_end_) {
    parts[Prefixed(kBeforeEnd, name)] = state;
  }
}

std::string RunState::PartName(const Entry& entry, const Source& source,
                               const Checkpoint& checkpoint) const {
  if (source.repeat_window) {
    if (entry.kind == Kind::kWindow) return "";
    if (entry.kind == Kind::kMoving || entry.kind == Kind::kMeans) {
      return Prefixed(kWindowStart, entry.name);
    }
  }
  const std::string before_end = Prefixed(kBeforeEnd, entry.name);
  if (source.before_end && checkpoint.parts.contains(before_end)) {
    return before_end;
  }
  if (entry.kind == Kind::kMeans && source.other_ranks &&
      checkpoint.world_size > 1) {
    return Prefixed(kOfAll, entry.name);
  }
  return entry.name;
}

void RunState::Load(const Checkpoint& checkpoint,
                    const std::set<std::string>& fresh, bool before_end) {
  Source source{
      .other_ranks = checkpoint.world_size != backend_.num_processes() ||
                     !checkpoint.own_parts,
      .repeat_window = false,
      .before_end = before_end};
  for (const Entry& entry : entries_) {
    source.repeat_window |=
        source.other_ranks && entry.kind == Kind::kMoving &&
        checkpoint.parts.contains(Prefixed(kWindowStart, entry.name));
  }
  std::vector<std::pair<const Entry*, std::string>> found;
  for (const Entry& entry : entries_) {
    const std::string name = PartName(entry, source, checkpoint);
    if (name.empty() || fresh.contains(entry.name)) continue;
    const bool there = entry.kind == Kind::kTensors
                           ? checkpoint.tensors.contains(name)
                           : checkpoint.parts.contains(name);
    if (there) {
      found.emplace_back(&entry, name);
      continue;
    }
    TORCH_CHECK_VALUE(
        entry.if_missing != IfMissing::kError, "the checkpoint has no ",
        entry.kind == Kind::kTensors ? "tensors" : "part", " \"", name, "\"");
    if (entry.if_missing == IfMissing::kWarn) {
      LOG(WARNING) << "the checkpoint has no part \"" << name
                   << "\"; it keeps its initial state";
    }
  }
  for (const auto& [entry, name] : found) {
    LoadEntry(*entry, name, source, checkpoint);
  }
}

void RunState::LoadEntry(const Entry& entry, const std::string& name,
                         const Source& source, const Checkpoint& checkpoint) {
  try {
    if (entry.kind == Kind::kTensors) {
      entry.tensors.load(checkpoint.tensors.at(name));
      return;
    }
    const State& state = checkpoint.parts.at(name);
    if (entry.kind != Kind::kMeans) return entry.part->LoadState(state);
    entry.means->LoadState(state);
    // Rank 0 holds the sum of all.
    if (source.other_ranks && backend_.rank() != 0) entry.means->Forget();
  } catch (const std::exception& e) {
    TORCH_CHECK_VALUE(false, "\"", name, "\": ", ErrorMessage(e));
  }
}

}  // namespace trainyard

// How the runtime captures and replays graphs.
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/testing/standin/runtime.h"

namespace trainyard::standin {
namespace {

std::string NameOf(c10::Stream stream) {
  return "stream " + std::to_string(stream.id()) +
         " of standin:" + std::to_string(stream.device_index());
}

}  // namespace

bool Runtime::InCapture(c10::Stream stream) const {
  return capture_ != nullptr &&
         std::find(capture_->streams.begin(), capture_->streams.end(),
                   stream) != capture_->streams.end();
}

bool Runtime::Captures(c10::Stream stream) {
  const std::lock_guard lock(mutex_);
  return InCapture(stream);
}

bool Runtime::Captures(c10::DeviceIndex index) {
  return Captures(CurrentStream(index));
}

void Runtime::BeginCapture(c10::DeviceIndex index) {
  const c10::Stream stream = CurrentStream(index);
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(capture_ == nullptr, "standin: a graph is captured already");
  TORCH_CHECK(stream.id() != 0,
              "standin: the default stream cannot be captured; make an "
              "OwnStream first");
  capture_ =
      std::make_unique<Capture>(Capture{.id = ++num_captures_,
                                        .origin = stream,
                                        .thread = std::this_thread::get_id(),
                                        .streams = {stream},
                                        .history = detector_.SaveHistory(),
                                        .counts = counts_});
}

CapturedWork Runtime::EndCapture(bool keep) {
  std::unique_lock lock(mutex_);
  TORCH_CHECK(capture_ != nullptr, "standin: no graph is captured");
  // The origin must come after all work of the streams that joined it.
  std::string unjoined;
  const VectorClock end = detector_.Now(StreamNumber(capture_->origin));
  for (const c10::Stream& stream : capture_->streams) {
    const auto number = static_cast<size_t>(StreamNumber(stream));
    const int64_t done = number < end.size() ? end[number] : 0;
    if (done < detector_.Now(StreamNumber(stream))[number]) {
      unjoined = NameOf(stream);
    }
  }
  const std::unique_ptr<Capture> ended = std::exchange(capture_, nullptr);
  // Recorded, not done.
  for (const auto& [block, contents] : ended->before) {
    memory_.Open(block);
    std::memcpy(block, contents.data(), contents.size());
    memory_.Close(block);
  }
  detector_.ForgetSince(ended->history);
  const int64_t peak = counts_.peak_bytes;
  counts_ = ended->counts;
  counts_.peak_bytes = peak;
  if (keep && unjoined.empty()) {
    return {.pool = ended->id,
            .replays = std::move(ended->replays),
            .used = std::move(ended->used)};
  }
  lock.unlock();
  DropPool(ended->id);
  TORCH_CHECK(!keep, "standin: work on ", unjoined,
              " is a part of the graph, but ", NameOf(ended->origin),
              " does not wait for it before the capture ends");
  return {};
}

void Runtime::JoinCapture(c10::Stream stream, const RecordedEvent& event) {
  if (event.capture == 0) {
    TORCH_CHECK(!InCapture(stream), "standin: ", NameOf(stream),
                " is captured and waits for an event from outside of the "
                "graph; wait before the capture begins");
    return;
  }
  TORCH_CHECK(capture_ != nullptr && capture_->id == event.capture,
              "standin: ", NameOf(stream),
              " waits for an event that was recorded in a capture that has "
              "ended: nothing was launched there");
  if (!InCapture(stream)) capture_->streams.push_back(stream);
}

void Runtime::CheckMayWait(bool captured, const std::string& what) const {
  if (capture_ == nullptr && !captured) return;
  if (!captured && capture_->thread != std::this_thread::get_id()) return;
  TORCH_CHECK(false, "standin: ", what,
              " makes the host wait for the device while a graph is captured");
}

void Runtime::CheckMayLaunch(c10::Stream stream,
                             const std::string& operation) const {
  if (capture_ == nullptr || InCapture(stream)) return;
  // Other threads have work of their own.
  if (capture_->thread != std::this_thread::get_id()) return;
  TORCH_CHECK(false, "standin: ", operation, " is on ", NameOf(stream),
              " while ", NameOf(capture_->origin),
              " is captured, and would not be in the graph; let the stream "
              "wait for an event of the captured one");
}

void Runtime::UsedInCapture(void* block, bool write,
                            const std::string& operation) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  const auto pool = pools_.find(block);
  if (pool == pools_.end() || pool->second.pool != capture_->id) {
    capture_->used.try_emplace(
        block, UsedBlock{memory_.AllocationOf(block),
                         detector_.Describe(address), operation});
  }
  if (write && !capture_->before.contains(block)) {
    capture_->before.emplace(block, std::string(static_cast<const char*>(block),
                                                memory_.SizeOf(block)));
  }
}

void Runtime::AddReplay(Replay replay) {
  const std::lock_guard lock(mutex_);
  capture_->replays.push_back(std::move(replay));
}

void Runtime::RunReplays(const CapturedWork& work) {
  {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(capture_ == nullptr,
                "standin: a graph is replayed while another one is captured");
    for (const auto& [block, used] : work.used) {
      TORCH_CHECK(memory_.AllocationOf(block) == used.allocation,
                  "standin: ", used.operation, " of the graph uses ",
                  used.description,
                  ", which was freed after the capture; keep the tensors that "
                  "a graph uses");
    }
    // What is not kept from replay to replay must not be read before it is
    // written.
    for (const auto& [block, owner] : pools_) {
      if (owner.pool != work.pool || !owner.freed) continue;
      memory_.Open(block);
      std::memset(block, 0xFF, memory_.SizeOf(block));
      memory_.Close(block);
    }
    ++counts_.graph_replays;
  }
  for (const Replay& replay : work.replays) replay();
}

void Runtime::DropPool(int64_t pool) {
  const std::lock_guard lock(mutex_);
  std::vector<void*> freed;
  std::erase_if(pools_, [&](const auto& item) {
    if (item.second.pool != pool) return false;
    if (item.second.freed) freed.push_back(item.first);
    return true;
  });
  for (void* const block : freed) FreeNow(block);
}

}  // namespace trainyard::standin

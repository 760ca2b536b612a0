#include "backends/testing/standin/race_detector.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainyard::standin {
namespace {

void Join(VectorClock& clock, const VectorClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) {
    clock[i] = std::max(clock[i], other[i]);
  }
}

int64_t At(const VectorClock& clock, int stream) {
  const auto index = static_cast<size_t>(stream);
  return index < clock.size() ? clock[index] : 0;
}

}  // namespace

int RaceDetector::AddStream(const std::string& name) {
  streams_.push_back({name, VectorClock(streams_.size() + 1)});
  return static_cast<int>(streams_.size()) - 1;
}

int64_t RaceDetector::Launch(int stream) {
  VectorClock& clock = streams_[stream].clock;
  // What the host launches comes after everything that it waited for.
  Join(clock, host_);
  clock[stream] += 1;
  return ++launches_;
}

void RaceDetector::StreamWaits(int stream, const VectorClock& event) {
  Join(streams_[stream].clock, event);
}

void RaceDetector::HostWaits(const VectorClock& event) { Join(host_, event); }

bool RaceDetector::HostKnows(const VectorClock& event) const {
  for (size_t i = 0; i < event.size(); ++i) {
    if (At(host_, static_cast<int>(i)) < event[i]) return false;
  }
  return true;
}

void RaceDetector::AddBlock(uintptr_t begin, size_t bytes, int stream,
                            const std::string& allocated_by) {
  blocks_[begin] = {.number = num_blocks_++,
                    .bytes = bytes,
                    .stream = stream,
                    .allocated_by = allocated_by};
}

std::map<uintptr_t, RaceDetector::Block>::iterator RaceDetector::FindBlock(
    uintptr_t address) {
  auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin()) return blocks_.end();
  --it;
  return address < it->first + it->second.bytes ? it : blocks_.end();
}

void RaceDetector::RecordStream(uintptr_t block, int stream) {
  const auto it = FindBlock(block);
  if (it != blocks_.end()) it->second.recorded.insert(stream);
}

bool RaceDetector::Before(const Past& past, const VectorClock& clock) const {
  return At(clock, past.stream) >= past.time ||
         At(host_, past.stream) >= past.time;
}

void RaceDetector::RemoveBlock(uintptr_t begin) {
  CheckFree(begin);
  blocks_.erase(begin);
}

void RaceDetector::CheckFree(uintptr_t begin) {
  const auto it = blocks_.find(begin);
  if (it == blocks_.end()) return;
  const Block& block = it->second;
  for (const Past& past : block.past) {
    if (past.stream == block.stream || block.recorded.contains(past.stream) ||
        Before(past, streams_[block.stream].clock)) {
      continue;
    }
    Report("use after free: " + Describe(block) + " was freed while " +
           past.operation + " on stream " + streams_[past.stream].name +
           " may still use it; it belongs to stream " +
           streams_[block.stream].name +
           ": wait for that work, or call record_stream");
  }
}

RaceDetector::History RaceDetector::SaveHistory() const {
  History history{.launches = launches_};
  for (const Stream& stream : streams_) history.clocks.push_back(stream.clock);
  for (const auto& [begin, block] : blocks_) {
    history.accesses[block.number] = block.past;
  }
  return history;
}

void RaceDetector::ForgetSince(const History& history) {
  launches_ = history.launches;
  for (size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].clock =
        i < history.clocks.size() ? history.clocks[i] : VectorClock(i + 1);
  }
  for (auto& [begin, block] : blocks_) {
    const auto before = history.accesses.find(block.number);
    block.past =
        before == history.accesses.end() ? std::vector<Past>() : before->second;
  }
}

void RaceDetector::Access(const MemoryAccess& access, int stream,
                          const std::string& operation) {
  const auto it = FindBlock(access.begin);
  if (it == blocks_.end()) return;
  Block& block = it->second;
  const VectorClock& clock = streams_[stream].clock;
  const Past now = {access, stream, clock[stream], operation};
  std::erase_if(block.past, [&](const Past& past) {
    const bool overlap =
        past.access.begin < access.end && access.begin < past.access.end;
    if (!overlap) return false;
    const bool ordered = past.stream == stream || Before(past, clock);
    if (!ordered && (past.access.write || access.write)) {
      Report("race: " + operation + " on stream " + streams_[stream].name +
             (access.write ? " writes " : " reads ") + Describe(block) +
             ", which " + past.operation + " on stream " +
             streams_[past.stream].name +
             (past.access.write ? " writes" : " reads") +
             "; the stream did not wait for it");
      return true;  // once is enough
    }
    // Whoever comes after the new access comes after the old one as well.
    return ordered && access.begin <= past.access.begin &&
           past.access.end <= access.end &&
           (access.write || !past.access.write);
  });
  block.past.push_back(now);
}

std::vector<std::string> RaceDetector::TakeErrors() {
  return std::exchange(errors_, {});
}

std::string RaceDetector::Describe(const Block& block) {
  return "block " + std::to_string(block.number) + " (" +
         std::to_string(block.bytes) + " bytes, allocated by " +
         block.allocated_by + ")";
}

std::string RaceDetector::Describe(uintptr_t address) const {
  const auto it = const_cast<RaceDetector*>(this)->FindBlock(address);
  return it == blocks_.end() ? "freed memory" : Describe(it->second);
}

}  // namespace trainyard::standin

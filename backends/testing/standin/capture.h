// What the stand-in keeps about graphs: the state of a capture under way
// (Capture), and what is left of it (CapturedWork).
//
// Internal to the stand-in; see standin.h. Plain values, guarded by the
// runtime.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_CAPTURE_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_CAPTURE_H_

#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "backends/testing/standin/race_detector.h"
#include "backends/testing/standin/standin_count.h"

namespace trainyard::standin {

// One piece of work that a graph repeats.
using Replay = std::function<void()>;

// A block from outside that a graph uses.
struct UsedBlock {
  // See ProtectedMemory.
  int64_t allocation = 0;
  std::string description;
  // The first operator that uses it.
  std::string operation;
};

struct CapturedWork {
  // Names the memory of the graph.
  int64_t pool = 0;
  std::vector<Replay> replays;
  std::map<void*, UsedBlock> used;
};

// A block that was allocated in a capture.
struct PoolBlock {
  int64_t pool = 0;
  bool freed = false;
};

struct Capture {
  int64_t id = 0;
  c10::Stream origin;
  std::thread::id thread;
  // The origin and the streams that have joined it.
  std::vector<c10::Stream> streams;
  std::vector<Replay> replays;
  std::map<void*, UsedBlock> used;
  // The contents, before the capture, of blocks that it wrote.
  std::map<void*, std::string> before;
  RaceDetector::History history;
  StandInCount counts;
};

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_CAPTURE_H_

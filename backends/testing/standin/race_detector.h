// RaceDetector finds accesses to memory that no stream order protects. It keeps
// one vector clock per stream and the recent accesses to every block. An access
// must come after every earlier access that it conflicts with: on the same
// stream, or because its stream waited for an event, or because the host waited
// before it launched the work.
//
//   RaceDetector detector;
//   const int compute = detector.AddStream("compute");
//   const int copy = detector.AddStream("copy");
//   detector.AddBlock(block, 64, compute, "aten::empty");
//   detector.Launch(compute);
//   detector.Access({block, block + 64, /*write=*/true}, compute, "aten::fill_");
//   detector.StreamWaits(copy, detector.Now(compute));  // without it: an error
//   detector.Launch(copy);
//   detector.Access({block, block + 64, /*write=*/false}, copy, "copy");
//   EXPECT_THAT(detector.TakeErrors(), IsEmpty());
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_RACE_DETECTOR_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_RACE_DETECTOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace trainyard::standin {

// Per stream, how much of its work has happened before a point in time.
using VectorClock = std::vector<int64_t>;

// Bytes [begin, end) of a block.
struct MemoryAccess {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool write = false;
};

class RaceDetector {
 public:
  // An access that was made.
  struct Past {
    MemoryAccess access;
    int stream = 0;
    int64_t time = 0;
    std::string operation;
  };

  // Returns the number of the new stream.
  int AddStream(const std::string& name);

  // Starts a piece of work on the stream. Returns its number, counted over all
  // streams.
  int64_t Launch(int stream);
  int64_t launches() const { return launches_; }

  // Everything that has been launched on the stream: what an event records.
  VectorClock Now(int stream) const { return streams_[stream].clock; }
  // Later work of the stream comes after `event`.
  void StreamWaits(int stream, const VectorClock& event);
  // The host knows that `event` has happened. All threads count as one.
  void HostWaits(const VectorClock& event);
  // Whether the host has waited for all of `event`.
  bool HostKnows(const VectorClock& event) const;

  void AddBlock(uintptr_t begin, size_t bytes, int stream,
                const std::string& allocated_by);
  // The block is used on another stream than the one that it was allocated on:
  // its memory is not reused before that work is done.
  void RecordStream(uintptr_t block, int stream);
  // Reports work on other streams that may still use the block: its memory
  // belongs to later work of the stream that it was allocated on.
  void RemoveBlock(uintptr_t block);
  // The same of a block that stays: its owner hands it out again.
  void CheckFree(uintptr_t block);

  // An access by the last work that was launched on the stream. Reports every
  // conflicting access that it does not come after.
  void Access(const MemoryAccess& access, int stream,
              const std::string& operation);

  // What has been launched and accessed so far. Forget takes back what came
  // after it: work that was recorded in a graph, and not done.
  struct History {
    std::vector<VectorClock> clocks;
    std::map<int64_t, std::vector<Past>> accesses;  // by block
    int64_t launches = 0;
  };
  History SaveHistory() const;
  void ForgetSince(const History& history);

  // Adds an error that another check found.
  void Report(const std::string& error) { errors_.push_back(error); }
  // Returns the errors since the last call.
  std::vector<std::string> TakeErrors();

  // "block 3 (64 bytes, allocated by aten::empty)".
  std::string Describe(uintptr_t block) const;

 private:
  struct Stream {
    std::string name;
    VectorClock clock;
  };
  struct Block {
    int64_t number = 0;
    size_t bytes = 0;
    int stream = 0;
    std::string allocated_by;
    std::set<int> recorded;
    std::vector<Past> past;
  };

  bool Before(const Past& past, const VectorClock& clock) const;
  std::map<uintptr_t, Block>::iterator FindBlock(uintptr_t address);
  static std::string Describe(const Block& block);

  std::vector<Stream> streams_;
  VectorClock host_;
  std::map<uintptr_t, Block> blocks_;
  int64_t num_blocks_ = 0;
  int64_t launches_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_RACE_DETECTOR_H_

// Sink is a destination of records: a file, a console. A Tracker calls it from
// one thread.
//
//   class Count final : public Sink {
//    public:
//     std::string name() const override { return "count"; }
//     void Write(const tracking::Record&) override { ++count; }
//     int64_t count = 0;
//   };
//
// Every method may throw: the tracker then reports the error and does not use
// the sink again. Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_SINK_H_
#define TRAINYARD_TRACKING_SINKS_SINK_H_

#include <cstdint>
#include <string>

#include "tracking/sinks/record.h"

namespace trainyard {

class Sink {
 public:
  virtual ~Sink() = default;

  // Unique among the sinks of a tracker: the key of its position in
  // checkpoints.
  virtual std::string name() const = 0;

  // Starts a run. With position 0 the run is new, and existing output is moved
  // aside. Otherwise the run is resumed: `position` is what position() returned
  // at the checkpoint, and later output is cut off. Called before the first
  // Write of each run.
  virtual void Open(int64_t /*position*/) {}

  // Ignores kinds of records that the sink does not support.
  virtual void Write(const tracking::Record& record) = 0;

  // Hands everything to the operating system, so that it survives this process.
  virtual void Flush() {}

  // Flushes to the disk, and returns the position to resume from.
  virtual int64_t position() { return 0; }
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_SINK_H_

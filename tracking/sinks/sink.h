// Sink is a place that records go to: a file, a console. Tracker feeds it, from
// one thread of its own.
//
//   class Count final : public Sink {
//    public:
//     std::string name() const override { return "count"; }
//     void Write(const Record&) override { ++count; }
//     int64_t count = 0;
//   };
//
// All calls may throw; the tracker then leaves the sink alone and says so.
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_SINK_H_
#define TRAINYARD_TRACKING_SINKS_SINK_H_

#include <cstdint>
#include <string>

#include "tracking/sinks/record.h"

namespace trainyard {

class Sink {
 public:
  virtual ~Sink() = default;

  // Different for each sink of a tracker; names its position in checkpoints.
  virtual std::string name() const = 0;

  // Starts a run's records: at 0 a new one, with what was there moved aside; at
  // a position() of before, the same one, with what came after it cut off.
  // Called before Write, and again for a further run.
  virtual void Open(int64_t /*position*/) {}

  // A kind that the sink has no place for is left out.
  virtual void Write(const tracking::Record& record) = 0;

  // Hands everything to the operating system: it survives this process.
  virtual void Flush() {}

  // Flushes, to the disk itself, and says how far it is.
  virtual int64_t position() { return 0; }
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_SINK_H_

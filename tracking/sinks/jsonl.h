// The JSON Lines sink writes each row of numbers as one line with an object:
//
//   {"step":10,"time":1700000000.125,"loss":0.5,"lr":0.001}
//
// Numbers are written so that they read back equal; one that is not finite
// becomes null. Other kinds of records are ignored.
//
//   auto sink = MakeJsonLines("run/metrics.jsonl");
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_JSONL_H_
#define TRAINYARD_TRACKING_SINKS_JSONL_H_

#include <memory>
#include <string>

#include "tracking/sinks/sink.h"

namespace trainyard {

std::unique_ptr<Sink> MakeJsonLines(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_JSONL_H_

// JsonLines writes rows of numbers as lines of JSON, one object each:
//
//   {"step":10,"time":1700000000.125,"loss":0.5,"lr":0.001}
//
// Numbers read back as they were; one that is not finite is null. Other records
// are left out.
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

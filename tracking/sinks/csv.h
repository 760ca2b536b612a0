// Csv writes rows of numbers as CSV (RFC 4180), one line per number, so that
// metrics that appear late need no new columns:
//
//   step,time,name,value
//   10,1700000000.125,loss,0.5
//   10,1700000000.125,lr,0.001
//
// Numbers read back as they were; others are nan, inf or -inf. Other records
// are left out.
//
//   auto sink = MakeCsv("run/metrics.csv");
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_CSV_H_
#define TRAINYARD_TRACKING_SINKS_CSV_H_

#include <memory>
#include <string>

#include "tracking/sinks/sink.h"

namespace trainyard {

std::unique_ptr<Sink> MakeCsv(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_CSV_H_

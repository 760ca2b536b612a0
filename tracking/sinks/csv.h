// The CSV sink writes rows of numbers (RFC 4180), one line per number, so that
// a metric that first appears late needs no new column:
//
//   step,time,name,value
//   10,1700000000.125,loss,0.5
//   10,1700000000.125,lr,0.001
//
// Numbers are written so that they read back equal; those that are not finite
// as nan, inf or -inf. Other kinds of records are ignored.
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

// Decimate reduces a curve to at most a number of points: neighbours are merged
// into their mean, and their minimum and maximum are kept, so no spike is lost.
//
//   const Decimated line = Decimate(series, 2);
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_REPORT_DECIMATE_H_
#define TRAINYARD_TOOLS_REPORT_DECIMATE_H_

#include <cstddef>
#include <vector>

#include "tools/report/metrics_reader.h"

namespace trainyard {

struct Decimated {
  // Of the last of the merged points; both in ascending order.
  std::vector<double> steps;
  std::vector<double> times;
  // NaN if none of the merged values is finite.
  std::vector<double> means;
  // Minimum and maximum of the merged values; empty if nothing was merged.
  std::vector<double> lows;
  std::vector<double> highs;
};

// Returns at most `most` points. REQUIRES: most >= 1.
Decimated Decimate(const Series& series, size_t most);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_DECIMATE_H_

// Decimate makes few points of many: neighbours are merged into their mean, and
// their lowest and highest are kept, so that no spike is lost.
//
//   const Decimated line = Decimate(series, 4096);
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_REPORT_DECIMATE_H_
#define TRAINYARD_TOOLS_REPORT_DECIMATE_H_

#include <cstddef>
#include <vector>

#include "tools/report/metrics_reader.h"

namespace trainyard {

struct Decimated {
  // Of the last point merged; both ascend.
  std::vector<double> steps;
  std::vector<double> times;
  // NaN where no merged value is finite.
  std::vector<double> means;
  // Empty if nothing was merged.
  std::vector<double> lows;
  std::vector<double> highs;
};

// At most `most` points. REQUIRES: most >= 1.
Decimated Decimate(const Series& series, size_t most);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_DECIMATE_H_

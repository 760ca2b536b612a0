// FineJson packs more points of long lines than a page draws at once, for when
// it is zoomed: all of them where that fits, merged ones otherwise.
//
//   const std::string json = FineJson(reader.series(), {.most_points = 4096,
//                                                       .bytes = 8 << 20});
//
// An object of the lines that have more than `most_points`, by name:
//
//   n         how many points
//   s0, ds    the first step and the distance of two, if all are equal; else
//   s         the steps, 32-bit whole numbers
//   every, t  seconds since the run's start of every so many points and of the
//             last, 32-bit floats: between them the clock is taken to be even
//   v         values, 32-bit floats; lo, hi too if points are merged
//
// Arrays are in base64, least significant byte first.
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_REPORT_FINE_POINTS_H_
#define TRAINYARD_TOOLS_REPORT_FINE_POINTS_H_

#include <cstddef>
#include <map>
#include <string>

#include "tools/report/metrics_reader.h"

namespace trainyard {

struct FineOptions {
  // What a page draws of a line at once: shorter ones are not packed.
  size_t most_points = 4096;
  // About how long the answer may be. 0: an empty object.
  size_t bytes = 8 << 20;
  // When the run started: times are counted from it.
  double start = 0;
};

std::string FineJson(const std::map<std::string, Series>& series,
                     const FineOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_FINE_POINTS_H_

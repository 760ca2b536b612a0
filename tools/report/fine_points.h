// FineJson packs additional points of long curves, for zooming: all points if
// they fit into a size limit, merged points otherwise.
//
//   const std::string json =
//       FineJson({{"loss", line}}, {.most_points = 2, .start = 100});
//
// The result is an object of the curves that have more than `most_points`
// points, by name:
//
//   n         number of points
//   s0, ds    first step and distance between steps, if all distances are equal
//   s         otherwise: the steps, 32-bit integers
//   every, t  seconds since the start of the run, of every `every`-th point and
//             of the last one, 32-bit floats; interpolate linearly between them
//   v         values, 32-bit floats; also lo and hi if points are merged
//
// Arrays are in base64, in little-endian order.
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
  // The page draws this many points of a curve at once; shorter curves are not
  // packed.
  size_t most_points = 4096;
  // Approximate limit of the result's length. 0: the result is an empty object.
  size_t bytes = 8 << 20;
  // Start of the run, in seconds since 1970.
  double start = 0;
};

std::string FineJson(const std::map<std::string, Series>& series,
                     const FineOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_FINE_POINTS_H_

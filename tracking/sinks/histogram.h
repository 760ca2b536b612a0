// MakeHistogram counts values into buckets of equal width.
//
//   tracker.Add(step, MakeHistogram("weights/conv1", values));
//
// Thread-safe.
#ifndef TRAINYARD_TRACKING_SINKS_HISTOGRAM_H_
#define TRAINYARD_TRACKING_SINKS_HISTOGRAM_H_

#include <span>
#include <string>

#include "tracking/sinks/record.h"

namespace trainyard {

// Values that are not finite are left out. Throws std::invalid_argument for
// fewer than 1 bucket.
tracking::Histogram MakeHistogram(std::string name,
                                  std::span<const float> values,
                                  int buckets = 64);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_HISTOGRAM_H_

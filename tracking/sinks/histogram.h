// MakeHistogram counts values into buckets of equal width.
//
//   tracker.Add(10, MakeHistogram("weights/conv1", weights));
//
// Thread-safe.
#ifndef TRAINYARD_TRACKING_SINKS_HISTOGRAM_H_
#define TRAINYARD_TRACKING_SINKS_HISTOGRAM_H_

#include <span>
#include <string>

#include "tracking/sinks/record.h"

namespace trainyard {

// Ignores values that are not finite. Throws std::invalid_argument for fewer
// than 1 bucket.
tracking::Histogram MakeHistogram(std::string name,
                                  std::span<const float> values,
                                  int buckets = 64);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_HISTOGRAM_H_

#include "tracking/sinks/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {

tracking::Histogram MakeHistogram(std::string name,
                                  std::span<const float> values, int buckets) {
  if (buckets < 1) {
    throw std::invalid_argument("MakeHistogram: buckets is " +
                                std::to_string(buckets));
  }
  tracking::Histogram histogram{.name = std::move(name)};
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const bool first = histogram.count == 0;
    histogram.min = first ? value : std::min<double>(histogram.min, value);
    histogram.max = first ? value : std::max<double>(histogram.max, value);
    histogram.count += 1;
    histogram.sum += value;
    histogram.sum_of_squares += static_cast<double>(value) * value;
  }
  const double width = (histogram.max - histogram.min) / buckets;
  // All values the same: one bucket that ends at it.
  const int used = width > 0 ? buckets : 1;
  histogram.counts.assign(static_cast<size_t>(used), 0);
  for (int i = 1; i <= used; ++i) {
    histogram.upper_limits.push_back(i == used ? histogram.max
                                               : histogram.min + i * width);
  }
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const auto bucket = std::lower_bound(histogram.upper_limits.begin(),
                                         histogram.upper_limits.end(), value) -
                        histogram.upper_limits.begin();
    histogram.counts[static_cast<size_t>(bucket)] += 1;
  }
  return histogram;
}

}  // namespace trainyard

#include "tools/report/decimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace trainyard {

Decimated Decimate(const Series& series, size_t most) {
  const size_t size = series.values.size();
  const size_t points = std::min(size, most);
  const bool merges = points < size;
  Decimated line;
  double step = -INFINITY;
  double time = -INFINITY;
  for (size_t point = 0; point < points; ++point) {
    const size_t begin = point * size / points;
    const size_t end = (point + 1) * size / points;
    double sum = 0;
    double low = NAN;
    double high = NAN;
    size_t count = 0;
    for (size_t i = begin; i < end; ++i) {
      const double value = series.values[i];
      if (!std::isfinite(value)) continue;
      sum += value;
      low = count == 0 ? value : std::min(low, value);
      high = count == 0 ? value : std::max(high, value);
      ++count;
    }
    // A clock that was set back would make lines run to the left.
    step = std::max(step, series.steps[end - 1]);
    time = std::max(time, series.times[end - 1]);
    line.steps.push_back(step);
    line.times.push_back(time);
    line.means.push_back(count == 0 ? NAN : sum / static_cast<double>(count));
    if (!merges) continue;
    line.lows.push_back(low);
    line.highs.push_back(high);
  }
  return line;
}

}  // namespace trainyard

#include "tools/inspect/line_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace trainyard {
namespace {

// The least step of 1, 2 or 5 times a power of ten that is not below `least`.
double RoundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

PlotRange RangeOf(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  PlotRange range{*low, *high};
  if (range.low > 0 && range.low < 0.5 * range.high) range.low = 0;
  if (range.low == range.high) {
    const double room = range.low == 0 ? 1 : 0.1 * std::abs(range.low);
    range = {range.low - room, range.high + room};
  }
  return range;
}

std::vector<double> Ticks(double low, double high, int most) {
  if (low == high) return {low};
  double step = RoundStep((high - low) / (most - 1));
  std::vector<double> ticks;
  // Counted in whole steps: adding them up would print 0.30000000000000004.
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step;
       ++i) {
    ticks.push_back(i == 0 ? 0 : i * step);
  }
  return ticks;
}

std::vector<PlotPoint> Thin(const std::vector<double>& values, size_t columns) {
  std::vector<PlotPoint> points;
  const size_t count = values.size();
  const size_t used = std::min(columns, count);
  for (size_t column = 0; column < used; ++column) {
    const size_t begin = column * count / used;
    const size_t end = (column + 1) * count / used;
    const auto [low, high] =
        std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(begin),
                            values.begin() + static_cast<std::ptrdiff_t>(end));
    const auto first = std::min(low, high), second = std::max(low, high);
    points.push_back({static_cast<size_t>(first - values.begin()), *first});
    if (second != first) {
      points.push_back({static_cast<size_t>(second - values.begin()), *second});
    }
  }
  return points;
}

std::string PlotNumber(double value) {
  char text[32];
  const bool whole = value == std::floor(value) && std::abs(value) < 1e9;
  std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.4g", value);
  return text;
}

}  // namespace trainyard

#include "tools/inspect/text_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace trainyard {
namespace {

struct Range {
  double low;
  double high;
};

// The range of the values, extended to 0 if that is near: a decay to one per
// cent should look like one. Never empty.
Range RangeOf(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Range range{*low, *high};
  if (range.low > 0 && range.low < 0.5 * range.high) range.low = 0;
  if (range.low == range.high) {
    const double room = range.low == 0 ? 1 : 0.1 * std::abs(range.low);
    range = {range.low - room, range.high + room};
  }
  return range;
}

}  // namespace

std::string PlotNumber(double value) {
  char text[32];
  const bool whole = value == std::floor(value) && std::abs(value) < 1e9;
  std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.4g", value);
  return text;
}

std::string ToText(const TextPlot& plot) {
  const int columns = plot.columns;
  const int rows = plot.rows;
  const Range range = RangeOf(plot.values);
  const size_t count = plot.values.size();
  const auto row_of = [&](double value) {
    return static_cast<int>(std::lround((range.high - value) /
                                        (range.high - range.low) * (rows - 1)));
  };
  std::vector<std::string> grid(static_cast<size_t>(rows),
                                std::string(static_cast<size_t>(columns), ' '));
  for (int column = 0; column < columns; ++column) {
    // At least one update per column; few updates fill several columns each.
    const size_t begin =
        static_cast<size_t>(column) * count / static_cast<size_t>(columns);
    const size_t end =
        std::max(begin + 1, (static_cast<size_t>(column) + 1) * count /
                                static_cast<size_t>(columns));
    const auto [low, high] = std::minmax_element(
        plot.values.begin() + static_cast<std::ptrdiff_t>(begin),
        plot.values.begin() + static_cast<std::ptrdiff_t>(end));
    for (int row = row_of(*high); row <= row_of(*low); ++row) {
      grid[static_cast<size_t>(row)][static_cast<size_t>(column)] = '*';
    }
  }
  std::ostringstream out;
  out << plot.title << "\n";
  for (int row = 0; row < rows; ++row) {
    const bool labelled = row % 5 == 0 || row == rows - 1;
    const double value =
        range.high - (range.high - range.low) * row / (rows - 1);
    char label[16];
    std::snprintf(label, sizeof(label), "%10s",
                  labelled ? PlotNumber(value).c_str() : "");
    std::string line = grid[static_cast<size_t>(row)];
    line.erase(line.find_last_not_of(' ') + 1);
    out << label << " |" << line << "\n";
  }
  const std::string last = std::to_string(count - 1);
  std::string below(static_cast<size_t>(columns), ' ');
  below.replace(0, 1, "0");
  below.replace(below.size() - last.size(), last.size(), last);
  out << std::string(11, ' ') << "+"
      << std::string(static_cast<size_t>(columns), '-') << "\n"
      << std::string(12, ' ') << below << "  update\n";
  return out.str();
}

}  // namespace trainyard

#include "tools/inspect/text_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "tools/inspect/line_plot.h"

namespace trainyard {

std::string ToText(const LinePlot& plot, int columns, int rows) {
  const PlotRange range = RangeOf(plot.values);
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

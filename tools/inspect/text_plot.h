// ToText draws a curve with plain characters, for a terminal.
//
//   const std::string plot = ToText({.title = "up", .values = values});
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_TEXT_PLOT_H_
#define TRAINYARD_TOOLS_INSPECT_TEXT_PLOT_H_

#include <string>
#include <vector>

namespace trainyard {

struct TextPlot {
  std::string title = "";
  // One value per update. REQUIRES: not empty, all finite.
  std::vector<double> values = {};
  // Size of the area of the curve, without axes. REQUIRES: columns >= 20, rows
  // >= 2.
  int columns = 64;
  int rows = 16;
};

std::string ToText(const TextPlot& plot);

// A number as an axis shows it: "25000", "0.3333".
std::string PlotNumber(double value);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_TEXT_PLOT_H_

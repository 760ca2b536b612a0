// A curve as lines of plain characters, for a terminal.
//
//   std::cout << ToText({.title = "cosine", .values = values});
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_TEXT_PLOT_H_
#define TRAINYARD_TOOLS_INSPECT_TEXT_PLOT_H_

#include <string>

#include "tools/inspect/line_plot.h"

namespace trainyard {

// `columns` by `rows` characters of curve, with its axes beside it. REQUIRES:
// columns >= 20, rows >= 2.
std::string ToText(const LinePlot& plot, int columns = 64, int rows = 16);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_TEXT_PLOT_H_

// A curve as a page of SVG that stands alone.
//
//   std::ofstream("cosine.svg") << ToSvg(
//       {.title = "cosine", .y_label = "lr", .values = values});
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_SVG_PLOT_H_
#define TRAINYARD_TOOLS_INSPECT_SVG_PLOT_H_

#include <string>

#include "tools/inspect/line_plot.h"

namespace trainyard {

std::string ToSvg(const LinePlot& plot);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_SVG_PLOT_H_

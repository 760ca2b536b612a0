// One curve over the updates of a run, and what its drawings share: see
// svg_plot.h and text_plot.h.
//
//   const LinePlot plot{.title = "cosine", .y_label = "lr", .values = values};
//   for (double tick : Ticks(0, 0.003, 6)) ...  // 0, 0.001, 0.002, 0.003
//
// Thread-safe.
#ifndef TRAINYARD_TOOLS_INSPECT_LINE_PLOT_H_
#define TRAINYARD_TOOLS_INSPECT_LINE_PLOT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

struct LinePlot {
  std::string title = "";
  std::string y_label = "";
  // One per update. REQUIRES: not empty, finite.
  std::vector<double> values = {};
  // Epochs are marked if this is not 0.
  int64_t updates_per_epoch = 0;
};

struct PlotRange {
  double low = 0;
  double high = 0;
};

// The range of the values, and 0 where it is near: a fall to a hundredth should
// look like one. Never empty.
PlotRange RangeOf(const std::vector<double>& values);

// Round numbers (1, 2 or 5 times a power of ten, and its multiples) from `low`
// to `high`, `most` at the most. REQUIRES: low <= high, most >= 2.
std::vector<double> Ticks(double low, double high, int most);

struct PlotPoint {
  size_t update = 0;
  double value = 0;

  friend bool operator==(const PlotPoint&, const PlotPoint&) = default;
};

// What `columns` columns can show of `values`: the extremes of each, in the
// order in which they occur.
std::vector<PlotPoint> Thin(const std::vector<double>& values, size_t columns);

// A number as labels show it.
std::string PlotNumber(double value);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_LINE_PLOT_H_

#include "tools/inspect/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>

#include "tools/inspect/line_plot.h"

namespace trainyard {
namespace {

// Pixels, to a tenth.
std::string Px(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Where things stand in the SVG.
constexpr double kWidth = 800, kHeight = 360;
constexpr double kLeft = 80, kRight = 780, kTop = 60, kBottom = 310;

class Svg {
 public:
  void Line(double x1, double y1, double x2, double y2, const char* colour) {
    out_ << "<line x1=\"" << Px(x1) << "\" y1=\"" << Px(y1) << "\" x2=\""
         << Px(x2) << "\" y2=\"" << Px(y2) << "\" stroke=\"" << colour
         << "\"/>\n";
  }

  void Text(double x, double y, const char* anchor, const std::string& text,
            const char* more = "") {
    out_ << "<text x=\"" << Px(x) << "\" y=\"" << Px(y) << "\" text-anchor=\""
         << anchor << "\"" << more << ">" << Escape(text) << "</text>\n";
  }

  std::ostringstream& out() { return out_; }

 private:
  std::ostringstream out_;
};

}  // namespace

std::string ToSvg(const LinePlot& plot) {
  const PlotRange range = RangeOf(plot.values);
  const double last =
      std::max<double>(1, static_cast<double>(plot.values.size()) - 1);
  const auto x = [&](double update) {
    return kLeft + (kRight - kLeft) * update / last;
  };
  const auto y = [&](double value) {
    return kBottom -
           (kBottom - kTop) * (value - range.low) / (range.high - range.low);
  };

  Svg svg;
  svg.out() << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
            << kWidth << " " << kHeight
            << "\" font-family=\"sans-serif\" font-size=\"12\" "
               "fill=\"#333\">\n<rect width=\"100%\" height=\"100%\" "
               "fill=\"white\"/>\n";
  svg.Text(kLeft, 22, "start", plot.title, " font-size=\"14\"");
  for (const double tick : Ticks(range.low, range.high, 6)) {
    svg.Line(kLeft, y(tick), kRight, y(tick), "#ddd");
    svg.Text(kLeft - 8, y(tick) + 4, "end", PlotNumber(tick));
  }
  for (const double tick : Ticks(0, last, 8)) {
    svg.Line(x(tick), kBottom, x(tick), kBottom + 5, "#333");
    svg.Text(x(tick), kBottom + 20, "middle", PlotNumber(tick));
  }
  if (plot.updates_per_epoch > 0) {
    const auto epoch = static_cast<double>(plot.updates_per_epoch);
    for (const double tick : Ticks(0, std::floor(last / epoch), 12)) {
      if (tick != std::floor(tick) || tick == 0) continue;
      svg.Line(x(tick * epoch), kTop, x(tick * epoch), kBottom, "#eee");
      svg.Text(x(tick * epoch), kTop - 6, "middle", PlotNumber(tick),
               " fill=\"#888\"");
    }
    svg.Text(kLeft, kTop - 6, "start", "epoch", " fill=\"#888\"");
  }
  svg.Line(kLeft, kBottom, kRight, kBottom, "#333");
  svg.Text((kLeft + kRight) / 2, kBottom + 40, "middle", "update");
  svg.Text(0, 0, "middle", plot.y_label,
           " transform=\"translate(18,185) rotate(-90)\"");
  svg.out() << "<polyline fill=\"none\" stroke=\"#1f6fb4\" "
               "stroke-width=\"2\" stroke-linejoin=\"round\" points=\"";
  for (const PlotPoint& point : Thin(plot.values, 700)) {
    svg.out() << Px(x(static_cast<double>(point.update))) << ","
              << Px(y(point.value)) << " ";
  }
  svg.out() << "\"/>\n</svg>\n";
  return svg.out().str();
}

}  // namespace trainyard

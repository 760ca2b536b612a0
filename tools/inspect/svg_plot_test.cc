#include "tools/inspect/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tools/inspect/line_plot.h"

namespace trainyard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SvgPlotTest, HeaderExample) {
  const std::vector<double> values = {0, 1, 0.5};
  const std::string svg =
      ToSvg({.title = "cosine", .y_label = "lr", .values = values});
  EXPECT_THAT(svg, StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr(">cosine</text>"));
  EXPECT_THAT(svg, HasSubstr(">lr</text>"));
  // From the left to the right edge, and over the whole height.
  EXPECT_THAT(svg, HasSubstr("points=\"80.0,310.0 430.0,60.0 780.0,185.0 \""));
}

TEST(SvgPlotTest, TextIsEscaped) {
  EXPECT_THAT(ToSvg({.title = "a<b & c>d", .values = {1.0}}),
              HasSubstr(">a&lt;b &amp; c&gt;d</text>"));
}

TEST(SvgPlotTest, EpochsAreMarkedWhenKnown) {
  const std::vector<double> values(100, 1.0);
  EXPECT_THAT(ToSvg({.values = values, .updates_per_epoch = 30}),
              HasSubstr(">epoch</text>"));
  EXPECT_THAT(ToSvg({.values = values}), Not(HasSubstr(">epoch</text>")));
}

TEST(SvgPlotTest, LongRunsStaySmall) {
  std::vector<double> values;
  for (int i = 0; i < 1'000'000; ++i) values.push_back(std::sin(i));
  EXPECT_LT(ToSvg({.values = values}).size(), 30'000u);
}

}  // namespace
}  // namespace trainyard

#include "tools/inspect/text_plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace trainyard {
namespace {

TEST(TextPlotTest, HeaderExample) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(i / 39.0);
  const std::string plot = ToText({.title = "up", .values = values});
  EXPECT_EQ(std::count(plot.begin(), plot.end(), '\n'), 19);
  EXPECT_EQ(ToText({.title = "up", .values = values, .columns = 20, .rows = 5}),
            "up\n"
            "         1 |                 ***\n"
            "           |            ******\n"
            "           |       ******\n"
            "           |  ******\n"
            "         0 |***\n"
            "           +--------------------\n"
            "            0                 39  update\n");
}

TEST(TextPlotTest, FewUpdatesFillTheWidth) {
  EXPECT_EQ(ToText({.values = {1.0, 0.0}, .columns = 20, .rows = 2}),
            "\n"
            "         1 |**********\n"
            "         0 |          **********\n"
            "           +--------------------\n"
            "            0                  1  update\n");
}

TEST(TextPlotTest, RangeStartsAtZeroIfNear) {
  const auto last_label = [](const std::vector<double>& values) {
    const std::string text =
        ToText({.values = values, .columns = 20, .rows = 2});
    return text.substr(text.find('\n', 1) + 1, 10);
  };
  EXPECT_EQ(last_label({1.0, 0.01}), "         0");
  EXPECT_EQ(last_label({0.95, 0.85}), "      0.85");
  EXPECT_EQ(last_label({2.0, 2.0}), "       1.8");
  EXPECT_EQ(last_label({0.0}), "        -1");
}

TEST(TextPlotTest, NumbersAreShort) {
  EXPECT_EQ(PlotNumber(0.3), "0.3");
  EXPECT_EQ(PlotNumber(25000), "25000");
  EXPECT_EQ(PlotNumber(1.0 / 3), "0.3333");
}

}  // namespace
}  // namespace trainyard

#include "tools/inspect/text_plot.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/inspect/line_plot.h"

namespace trainyard {
namespace {

TEST(TextPlotTest, HeaderExample) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(i / 39.0);
  EXPECT_EQ(ToText({.title = "up", .values = values}, 20, 5),
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
  EXPECT_EQ(ToText({.title = "", .values = {1.0, 0.0}}, 20, 2),
            "\n"
            "         1 |**********\n"
            "         0 |          **********\n"
            "           +--------------------\n"
            "            0                  1  update\n");
}

}  // namespace
}  // namespace trainyard

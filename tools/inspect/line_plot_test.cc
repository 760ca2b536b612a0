#include "tools/inspect/line_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

TEST(LinePlotTest, HeaderExample) {
  const LinePlot plot{.title = "cosine", .y_label = "lr", .values = {1.0}};
  EXPECT_EQ(plot.updates_per_epoch, 0);
  EXPECT_THAT(Ticks(0, 0.003, 6),
              Pointwise(DoubleNear(1e-18), {0.0, 0.001, 0.002, 0.003}));
}

TEST(LinePlotTest, TicksAreRoundAndNotTooMany) {
  EXPECT_THAT(Ticks(0, 2344, 8), ElementsAre(0, 500, 1000, 1500, 2000));
  EXPECT_THAT(Ticks(-1, 1, 5), ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_THAT(Ticks(7, 7, 5), ElementsAre(7));
  for (int most = 2; most < 20; ++most) {
    EXPECT_LE(Ticks(0.13, 97.2, most).size(), static_cast<size_t>(most));
  }
}

TEST(LinePlotTest, RangeStartsAtZeroWhereItIsNear) {
  EXPECT_EQ(RangeOf({1.0, 0.01}).low, 0.0);
  EXPECT_EQ(RangeOf({1.0, 0.01}).high, 1.0);
  EXPECT_EQ(RangeOf({0.95, 0.85}).low, 0.85);
}

TEST(LinePlotTest, RangeOfOneValueIsNotEmpty) {
  EXPECT_LT(RangeOf({2.0, 2.0}).low, 2.0);
  EXPECT_GT(RangeOf({2.0, 2.0}).high, 2.0);
  EXPECT_LT(RangeOf({0.0}).low, RangeOf({0.0}).high);
}

TEST(LinePlotTest, ThinKeepsExtremesInOrder) {
  const std::vector<double> values = {1, 9, 2, 3, 0, 4, 5, 6};
  EXPECT_THAT(Thin(values, 2), ElementsAre(PlotPoint{0, 1}, PlotPoint{1, 9},
                                           PlotPoint{4, 0}, PlotPoint{7, 6}));
  EXPECT_EQ(Thin(values, 100).size(), values.size());
}

TEST(LinePlotTest, NumbersAreShort) {
  EXPECT_EQ(PlotNumber(0.3), "0.3");
  EXPECT_EQ(PlotNumber(25000), "25000");
  EXPECT_EQ(PlotNumber(1.0 / 3), "0.3333");
}

}  // namespace
}  // namespace trainyard

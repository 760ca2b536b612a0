#include "callbacks/weights/lr_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// Falls around lr = 0.01, rises beyond 1.
double Loss(double lr) {
  return 1 / (1 + std::pow(lr / 0.01, 2)) + (lr > 1 ? lr : 0) + 0.1;
}

TEST(LrCurveTest, SuggestsWhereTheLossFallsFastest) {
  LrCurve curve(
      {.min_lr = 1e-5, .max_lr = 100, .updates = 141, .smoothing = 0});
  while (!curve.done()) curve.Add(Loss(curve.next_lr()));
  EXPECT_TRUE(curve.diverged());
  EXPECT_LT(curve.points().size(), 141);
  EXPECT_GT(curve.points().back().loss, 0.4);
  EXPECT_NEAR(std::log10(*curve.suggestion()), -2, 0.05);
}

// Smoothing neither shifts the answer nor lets a fall after a blow-up win.
TEST(LrCurveTest, SuggestsTheSameThroughNoise) {
  LrCurve curve({.min_lr = 1e-5, .max_lr = 1, .updates = 101});
  for (int i = 0; !curve.done(); ++i) {
    const double noise = 0.05 * std::sin(i * 12.9898);
    const bool blown_up = i == 98;
    curve.Add(Loss(curve.next_lr()) + noise + (blown_up ? 5 : 0));
  }
  EXPECT_NEAR(std::log10(*curve.suggestion()), -2, 0.2);
}

TEST(LrCurveTest, WalksTheRangeInEitherSpacing) {
  const auto rates = [](LrCurveOptions::Spacing spacing) {
    LrCurve curve(
        {.min_lr = 0.25, .max_lr = 4, .updates = 3, .spacing = spacing});
    while (!curve.done()) curve.Add(1);
    std::vector<double> lrs;
    for (const auto& point : curve.points()) lrs.push_back(point.lr);
    return lrs;
  };
  EXPECT_THAT(rates(LrCurveOptions::Spacing::kExponential),
              ::testing::ElementsAre(0.25, 1, 4));
  EXPECT_THAT(rates(LrCurveOptions::Spacing::kLinear),
              ::testing::ElementsAre(0.25, 2.125, 4));
}

TEST(LrCurveTest, SmoothsWithoutABiasTowardsZero) {
  LrCurve curve({.smoothing = 0.5});
  curve.Add(4);
  curve.Add(1);
  EXPECT_DOUBLE_EQ(curve.points()[0].smoothed, 4);
  EXPECT_DOUBLE_EQ(curve.points()[1].smoothed, (0.25 * 4 + 0.5 * 1) / 0.75);
}

TEST(LrCurveTest, NothingFallsNothingIsSuggested) {
  LrCurve flat({.updates = 5});
  EXPECT_EQ(flat.suggestion(), std::nullopt);
  while (!flat.done()) flat.Add(1);
  EXPECT_EQ(flat.suggestion(), std::nullopt);
  LrCurve broken;
  broken.Add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(broken.diverged());
  EXPECT_THAT(broken.Table(), HasSubstr("nan"));
}

TEST(LrCurveTest, ShowsATableAndCsv) {
  LrCurve curve({.min_lr = 1e-5, .max_lr = 100, .updates = 141});
  while (!curve.done()) curve.Add(Loss(curve.next_lr()));
  EXPECT_THAT(curve.Table(), HasSubstr("# <- steepest\n"));
  std::istringstream csv(curve.Csv());
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "lr,loss,smoothed");
  size_t lines = 0;
  while (std::getline(csv, line)) ++lines;
  EXPECT_EQ(lines, curve.points().size());
}

TEST(LrCurveTest, RefusesBadOptionsByName) {
  const auto message = [](const LrCurveOptions& options) -> std::string {
    try {
      LrCurve curve(options);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message({.min_lr = 0}), HasSubstr("min_lr is 0"));
  EXPECT_THAT(message({.max_lr = 1e-9}), HasSubstr("max_lr is 1e-09"));
  EXPECT_THAT(message({.updates = 1}), HasSubstr("updates is 1"));
  EXPECT_THAT(message({.smoothing = 1}), HasSubstr("smoothing is 1"));
  EXPECT_THAT(message({.diverged = 1}), HasSubstr("diverged is 1"));
}

}  // namespace
}  // namespace trainyard

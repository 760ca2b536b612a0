#include "trainer/loop/grad_window.h"

#include <gtest/gtest.h>

#include <random>

namespace trainyard {
namespace {

TEST(GradWindowTest, OneBatchHasTheWholeShare) {
  GradWindow window;
  window.Start(1);
  EXPECT_EQ(window.Add(7), 1);
  EXPECT_EQ(window.divisor(), 1);
}

TEST(GradWindowTest, EqualBatchesNeedNoCorrection) {
  for (const int batches : {2, 3, 5, 7, 16}) {
    GradWindow window;
    window.Start(batches);
    for (int batch = 0; batch < batches; ++batch)
      EXPECT_EQ(window.Add(3), 3.0 / (3 * batches));
    EXPECT_EQ(window.divisor(), 1) << batches;
  }
}

TEST(GradWindowTest, SharesOverDivisorAreTheWeightsOverTheirSum) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> weights(1 + random() % 8);
    double sum = 0;
    for (double& weight : weights) sum += weight = 1 + random() % 1000;
    // Also when the window turns out shorter or longer than announced.
    GradWindow window;
    window.Start(static_cast<int64_t>(1 + random() % 8));
    std::vector<double> shares;
    for (const double weight : weights) shares.push_back(window.Add(weight));
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_NEAR(shares[i] / window.divisor(), weights[i] / sum, 1e-14);
    }
  }
}

TEST(GradWindowTest, StartForgetsTheWindowBefore) {
  GradWindow window;
  window.Start(2);
  window.Add(5);
  window.Start(1);
  EXPECT_EQ(window.divisor(), 1);
  EXPECT_EQ(window.Add(9), 1);
}

}  // namespace
}  // namespace trainyard

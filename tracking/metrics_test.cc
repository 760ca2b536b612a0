#include "tracking/metrics.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/testing/standin/standin.h"
#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

at::Device Device() { return at::Device(TestDevice()); }

at::Tensor Scalar(double value) { return at::full({}, value, Device()); }

TEST(MetricMeansTest, HeaderExample) {
  const at::Tensor loss = Scalar(2);
  MetricMeans means;
  means.Add("loss", loss, /*weight=*/8);
  const std::map<std::string, double> metrics = means.Read();
  EXPECT_THAT(metrics, ElementsAre(Pair("loss", 2)));
}

TEST(MetricMeansTest, MeansAreWeighted) {
  MetricMeans means;
  means.Add("loss", Scalar(1), 3);
  means.Add("loss", Scalar(5), 1);
  EXPECT_THAT(means.Read(), ElementsAre(Pair("loss", 2)));
}

TEST(MetricMeansTest, NamesMayComeInAnyOrder) {
  MetricMeans means;
  for (const double value : {1.0, 2.0, 3.0}) {
    means.Add("a", Scalar(value), 1);
    means.Add("b", Scalar(10 * value), 1);
    if (value == 2) means.Add("c", Scalar(7), 1);
  }
  means.Add("b", Scalar(20), 1);
  means.Add("a", Scalar(2), 1);
  EXPECT_THAT(means.Read(),
              ElementsAre(Pair("a", 2), Pair("b", 20), Pair("c", 7)));
}

TEST(MetricMeansTest, ManySmallValuesDoNotLoseDigits) {
  MetricMeans means;
  // A kernel of a device takes longer.
  const int values = Device().is_cpu() ? 1000000 : 2000;
  for (int i = 0; i < values; ++i) means.Add("x", Scalar(0.1F), 1);
  EXPECT_NEAR(means.Read().at("x"), 0.1F, 1e-12);
}

TEST(MetricMeansTest, ValuesWithGradientsAreOnlyRead) {
  const at::Tensor w = Scalar(2).requires_grad_();
  MetricMeans means;
  means.Add("loss", w.mul(3), 1);
  EXPECT_THAT(means.Read(), ElementsAre(Pair("loss", 6)));
}

TEST(MetricMeansTest, ContinuesFromItsState) {
  MetricMeans means;
  means.Add("loss", Scalar(1), 3);
  means.Add("error", at::full({}, 0.5), 1);  // on the CPU
  MetricMeans rest;
  rest.LoadState(means.SaveState());
  for (MetricMeans* each : {&means, &rest}) {
    each->Add("loss", Scalar(5), 1);
    EXPECT_THAT(each->Read(),
                UnorderedElementsAre(Pair("loss", 2), Pair("error", 0.5)));
  }
  // What it had loaded is saved again.
  MetricMeans again;
  again.LoadState(rest.SaveState());
  EXPECT_EQ(again.Read(), rest.Read());
}

// A checkpoint copies the state like the weights.
TEST(MetricMeansTest, SavingDoesNotWaitForTheDevice) {
  if (!StandInIsRegistered()) GTEST_SKIP() << "only the stand-in counts";
  MetricMeans means;
  means.Add("loss", Scalar(1), 3);
  ResetStandInCounts();
  const State state = means.SaveState();
  EXPECT_THAT(StandInSynchronizations(), IsEmpty());
}

TEST(MetricMeansTest, ResetRemovesEverything) {
  MetricMeans means;
  means.Add("loss", Scalar(1), 3);
  means.Reset();
  EXPECT_THAT(means.Read(), IsEmpty());
}

TEST(MetricMeansTest, InvalidValuesAreErrors) {
  MetricMeans means;
  try {
    means.Add("loss", at::zeros({2, 3}, Device()), 1);
    FAIL() << "a matrix passed for a scalar";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(
        e.what(),
        HasSubstr("metric \"loss\" is not a scalar but of shape [2, 3]"));
  }
  EXPECT_THROW(means.Add("loss", at::Tensor(), 1), c10::ValueError);
  EXPECT_THROW(means.Add("loss", Scalar(1), 0), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

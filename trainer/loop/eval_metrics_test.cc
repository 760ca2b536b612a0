#include "trainer/loop/eval_metrics.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/make_backend.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

at::Device Device() { return at::Device(TestDevice()); }

at::Tensor Value(double value) { return at::scalar_tensor(value, Device()); }

StepOutput Output(double loss, double error, double weight) {
  return {.loss = Value(loss),
          .weight = weight,
          .metrics = {{"error", Value(error)}}};
}

class EvalMetricsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> backend_ = MakeBackend("sp");
};

TEST_F(EvalMetricsTest, HeaderExample) {
  Backend& backend = *backend_;
  const at::Tensor loss = Value(1), error = Value(3);
  EvalMetrics metrics({{"error", ReduceMax()}});
  metrics.Add({.loss = loss, .weight = 2, .metrics = {{"error", error}}});
  const Metrics result = metrics.Read(backend);
  EXPECT_THAT(result, ElementsAre(Pair("error", 3), Pair("loss", 1)));
}

TEST_F(EvalMetricsTest, ReducerMayGiveSeveralValues) {
  const auto extremes = ReduceToValues([](const at::Tensor& rows) {
    return ReducedValues{{"min", rows.min().item<double>()},
                         {"", rows.max().item<double>()}};
  });
  EvalMetrics metrics({{"error", extremes}});
  metrics.Add(Output(1, 3, 1));
  metrics.Add(Output(1, 7, 1));
  EXPECT_THAT(
      metrics.Read(*backend_),
      ElementsAre(Pair("error", 7), Pair("error_min", 3), Pair("loss", 1)));
}

TEST_F(EvalMetricsTest, TwoValuesOfOneNameAreAnError) {
  EvalMetrics metrics({{"error", ReduceToValues([](const at::Tensor&) {
                          return ReducedValues{{"min", 1}};
                        })}});
  metrics.Add({.loss = Value(1),
               .weight = 1,
               .metrics = {{"error", Value(1)}, {"error_min", Value(1)}}});
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { metrics.Read(*backend_); }),
              HasSubstr("\"error_min\" is the name of two values; rename the "
                        "metric \"error\""));
}

TEST_F(EvalMetricsTest, AveragesByRecordsUnlessToldOtherwise) {
  EvalMetrics means({}), largest({{"error", ReduceMax()}});
  for (EvalMetrics* metrics : {&means, &largest}) {
    metrics->Add(Output(1, 3, 1));
    metrics->Add(Output(2, 7, 3));
  }
  EXPECT_THAT(means.Read(*backend_),
              ElementsAre(Pair("error", 6), Pair("loss", 1.75)));
  EXPECT_THAT(largest.Read(*backend_),
              ElementsAre(Pair("error", 7), Pair("loss", 1.75)));
}

TEST_F(EvalMetricsTest, ARowPerRecordIsForReducersThatTakeIt) {
  EvalMetrics means({}), rows({{"rows", ReduceWith([](const at::Tensor& all) {
                                  return static_cast<double>(all.size(0));
                                })}});
  const StepOutput output{.weight = 5,
                          .metrics = {{"rows", at::ones({5}, Device())}}};
  rows.Add(output);
  rows.Add(output);
  EXPECT_THAT(rows.Read(*backend_), ElementsAre(Pair("rows", 10)));
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { means.Add(output); }),
              HasSubstr("\"rows\" is not a scalar but of shape [5]"));
}

TEST_F(EvalMetricsTest, HoldsEveryBatchToTheNamesOfTheFirst) {
  EvalMetrics metrics({});
  metrics.Add(Output(1, 1, 1));
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { metrics.Add({.loss = Value(1), .weight = 1}); }),
              HasSubstr("returned 1 metrics, but those of its first batch were "
                        "\"loss\" \"error\""));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] {
        metrics.Add(
            {.loss = Value(1), .weight = 1, .metrics = {{"eror", Value(1)}}});
      }),
      HasSubstr("returned \"eror\", but"));
}

TEST_F(EvalMetricsTest, RefusesNothingAndNamesTwice) {
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([] { EvalMetrics({}).Add({.weight = 1}); }),
      HasSubstr("neither a loss nor a metric"));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([] {
        EvalMetrics({}).Add(
            {.loss = Value(1), .weight = 1, .metrics = {{"loss", Value(1)}}});
      }),
      HasSubstr("returned \"loss\" twice"));
}

TEST_F(EvalMetricsTest, AReducerNeedsItsMetric) {
  EvalMetrics metrics({{"eror", ReduceMax()}});
  metrics.Add(Output(1, 1, 1));
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { metrics.Read(*backend_); }),
              HasSubstr("names \"eror\", which EvalStep did not return; it "
                        "returned \"loss\" \"error\""));
}

}  // namespace
}  // namespace trainyard

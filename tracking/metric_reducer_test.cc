#include "tracking/metric_reducer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

at::Device Device() { return at::Device(TestDevice()); }

struct Batch {
  double value;
  double weight;
};

// What one process makes of these batches, and what two make of them.
std::vector<double> Results(const MakeReducer& make,
                            const std::vector<Batch>& batches) {
  std::vector<double> results;
  const auto whole = make();
  const std::unique_ptr<MetricReducer> parts[] = {make(), make()};
  for (size_t i = 0; i < batches.size(); ++i) {
    const at::Tensor value = at::scalar_tensor(batches[i].value, Device());
    whole->Add(value, batches[i].weight);
    parts[i % 2]->Add(value, batches[i].weight);
  }
  results.push_back(whole->Result(whole->Partial()).at(""));
  results.push_back(
      whole->Result(at::cat({parts[0]->Partial(), parts[1]->Partial()}))
          .at(""));
  return results;
}

const std::vector<Batch> kBatches = {{4, 1}, {1, 2}, {-2, 3}, {0.5, 4}};

TEST(MetricReducerTest, ReducesOverBatchesAndRanks) {
  EXPECT_EQ(Results(ReduceMean(), kBatches), (std::vector<double>{0.2, 0.2}));
  EXPECT_EQ(Results(ReduceExpOfMean(), kBatches),
            (std::vector<double>{std::exp(0.2), std::exp(0.2)}));
  EXPECT_EQ(Results(ReduceSum(), kBatches), (std::vector<double>{3.5, 3.5}));
  EXPECT_EQ(Results(ReduceMin(), kBatches), (std::vector<double>{-2, -2}));
  EXPECT_EQ(Results(ReduceMax(), kBatches), (std::vector<double>{4, 4}));
}

TEST(MetricReducerTest, HeaderExample) {
  const MetricReducers reducers = {
      {"largest_error", ReduceMax()},
      {"median", ReduceWith([](const at::Tensor& rows) {
         return rows.median().item<double>();
       })}};
  const auto median = reducers.at("median")();
  median->Add(at::tensor({3.f, 1.f, 2.f}, Device()), 3);
  EXPECT_THAT(median->Result(median->Partial()), ElementsAre(Pair("", 2)));
}

TEST(MetricReducerTest, FunctionGetsEveryValueOnceInOrder) {
  std::vector<float> seen;
  const auto reducer = ReduceWith([&](const at::Tensor& rows) {
    const at::Tensor here = rows.cpu();
    seen.assign(here.const_data_ptr<float>(),
                here.const_data_ptr<float>() + here.numel());
    return 1.0;
  })();
  reducer->Add(at::tensor({3.f, 1.f}, Device()), 2);
  reducer->Add(at::scalar_tensor(2.f, Device()), 1);
  EXPECT_TRUE(reducer->keeps_rows());
  EXPECT_THAT(reducer->Result(reducer->Partial()), ElementsAre(Pair("", 1)));
  EXPECT_EQ(seen, (std::vector<float>{3, 1, 2}));
}

TEST(MetricReducerTest, FunctionMayReturnSeveralValues) {
  const auto reducer = ReduceToValues([](const at::Tensor& rows) {
    return ReducedValues{{"min", rows.min().item<double>()},
                         {"max", rows.max().item<double>()}};
  })();
  reducer->Add(at::tensor({3.f, 1.f}, Device()), 2);
  EXPECT_THAT(reducer->Result(reducer->Partial()),
              ElementsAre(Pair("max", 3), Pair("min", 1)));
}

TEST(MetricReducerTest, CountsAreAddedExactlyBeyondFloat64) {
  const int64_t large = (int64_t{1} << 53) + 1;
  int64_t sum = 0;
  const auto reducer = ReduceCounts([&](const at::Tensor& counts) {
    sum = counts[1].item<int64_t>();
    return ReducedValues{{"sum", 1}};
  })();
  reducer->Add(at::tensor({int64_t{0}, large}).to(Device()), 1);
  reducer->Add(at::tensor({0, 1}, at::device(Device()).dtype(at::kInt)), 1);
  const at::Tensor rows = at::cat({reducer->Partial(), reducer->Partial()});
  EXPECT_THAT(reducer->Result(rows), ElementsAre(Pair("sum", 1)));
  EXPECT_EQ(sum, 2 * (large + 1));
}

TEST(MetricReducerTest, CountsMustBeIntegersOfOneShape) {
  const auto reducer =
      ReduceCounts([](const at::Tensor&) { return ReducedValues{}; })();
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { reducer->Add(at::tensor({1.f, 2.f}, Device()), 1); }),
              HasSubstr("is of type Float; it must be of integers"));
  reducer->Add(at::tensor({1, 2}).to(Device()), 1);
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { reducer->Add(at::tensor({1}).to(Device()), 1); }),
              HasSubstr("has the shape [1], the first one's was [2]"));
}

TEST(MetricReducerTest, MissingFunctionIsAnError) {
  EXPECT_THROW(ReduceWith(nullptr), c10::ValueError);
  EXPECT_THROW(ReduceToValues(nullptr), c10::ValueError);
  EXPECT_THROW(ReduceCounts(nullptr), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

#include "tracking/metric_reducer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trainyard {
namespace {

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
    const at::Tensor value = at::scalar_tensor(batches[i].value);
    whole->Add(value, batches[i].weight);
    parts[i % 2]->Add(value, batches[i].weight);
  }
  results.push_back(whole->Result(whole->Partial()));
  results.push_back(
      whole->Result(at::cat({parts[0]->Partial(), parts[1]->Partial()})));
  return results;
}

const std::vector<Batch> kBatches = {{4, 1}, {1, 2}, {-2, 3}, {0.5, 4}};

TEST(MetricReducerTest, ReducesOverBatchesAndProcesses) {
  EXPECT_EQ(Results(ReduceMean(), kBatches), (std::vector<double>{0.2, 0.2}));
  EXPECT_EQ(Results(ReduceExpOfMean(), kBatches),
            (std::vector<double>{std::exp(0.2), std::exp(0.2)}));
  EXPECT_EQ(Results(ReduceSum(), kBatches), (std::vector<double>{3.5, 3.5}));
  EXPECT_EQ(Results(ReduceMin(), kBatches), (std::vector<double>{-2, -2}));
  EXPECT_EQ(Results(ReduceMax(), kBatches), (std::vector<double>{4, 4}));
}

TEST(MetricReducerTest, AFunctionSeesEveryValueOnceInOrder) {
  std::vector<float> seen;
  const auto reducer = ReduceWith([&](const at::Tensor& rows) {
    seen.assign(rows.const_data_ptr<float>(),
                rows.const_data_ptr<float>() + rows.numel());
    return 1.0;
  })();
  reducer->Add(at::tensor({3.f, 1.f}), 2);
  reducer->Add(at::scalar_tensor(2.f), 1);
  EXPECT_EQ(reducer->Result(reducer->Partial()), 1);
  EXPECT_EQ(seen, (std::vector<float>{3, 1, 2}));
}

TEST(MetricReducerTest, RefusesToReduceByNothing) {
  EXPECT_THROW(ReduceWith(nullptr), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

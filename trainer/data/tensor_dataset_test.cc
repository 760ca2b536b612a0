#include "trainer/data/tensor_dataset.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(TensorDatasetTest, HeaderExample) {
  const at::Tensor images = at::tensor({0, 51, 255}, at::kByte);
  const at::Tensor labels = at::arange(3);
  const DatasetPtr data =
      MakeTensorDataset(Example{images, labels}, [](Example e) {
        return Example{e.input.to(at::kFloat).div_(255), e.target};
      });
  const AnyBatch any = data->Gather(at::tensor({2, 1}, at::kLong));
  const Example& batch = any.As<Example>();
  EXPECT_EQ(data->size(), 3);
  EXPECT_TRUE(at::equal(batch.target, at::tensor({2, 1}, at::kLong)));
  EXPECT_FLOAT_EQ(batch.input[0].item<float>(), 1.0F);
  EXPECT_FLOAT_EQ(batch.input[1].item<float>(), 0.2F);
}

TEST(TensorDatasetTest, GathersRowsInTheGivenOrderFromEveryTensor) {
  const at::Tensor rows = at::arange(12).view({4, 3});
  const TensorDataset<Example> data(Example{rows, at::arange(4)});
  const at::Tensor indices = at::tensor({3, 0, 3}, at::kLong);
  const AnyBatch batch = data.Gather(indices);
  EXPECT_EQ(batch.size(), 3);
  EXPECT_TRUE(
      at::equal(batch.As<Example>().input, rows.index_select(0, indices)));
  EXPECT_TRUE(at::equal(batch.As<Example>().target, indices));
}

TEST(TensorDatasetTest, RefusesUnequalRowsEmptyDataAndScalars) {
  EXPECT_THROW(TensorDataset<Example>(Example{at::zeros({3}), at::zeros({4})}),
               c10::ValueError);
  EXPECT_THROW(TensorDataset<Example>(Example{at::zeros({0}), at::zeros({0})}),
               c10::ValueError);
  EXPECT_THROW(TensorDataset<Example>(Example{at::zeros({3}), at::zeros({})}),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

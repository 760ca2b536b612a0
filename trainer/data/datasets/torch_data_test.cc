#include "trainer/data/datasets/torch_data.h"

#include <gtest/gtest.h>
#include <torch/data/datasets/base.h>
#include <torch/data/datasets/map.h>
#include <torch/data/datasets/tensor.h>
#include <torch/data/transforms/stack.h>

#include <stdexcept>

#include "trainer/data/loader.h"

namespace trainyard {
namespace {

// As in libtorch's tutorials.
struct Squares : torch::data::datasets::Dataset<Squares> {
  explicit Squares(size_t count) : size_(count) {}
  torch::data::Example<> get(size_t i) override {
    if (i == 77) throw std::out_of_range("seventy-seven");
    const auto value = static_cast<int64_t>(i);
    return {torch::full({2}, value), torch::full({}, value * value)};
  }
  std::optional<size_t> size() const override { return size_; }
  size_t size_;
};

void ExpectSquares(const DatasetPtr& data) {
  ASSERT_EQ(data->size(), 20);
  for (const int64_t workers : {0, 3}) {
    Loader loader(data, std::make_shared<SequentialSampler>(20),
                  {.batch_size = 6, .num_workers = workers});
    loader.StartEpoch(0, 3);
    const AnyBatch batch = *loader.Next();
    const at::Tensor want = torch::arange(3, 9);
    EXPECT_TRUE(batch.As<Example>().input.select(1, 1).equal(want));
    EXPECT_TRUE(batch.As<Example>().target.equal(want.mul(want)));
  }
}

TEST(TorchDataTest, GivesTheExamplesOfADataset) {
  ExpectSquares(FromTorchData(Squares(20)));
}

TEST(TorchDataTest, GivesTheBatchesOfAMappedDataset) {
  ExpectSquares(
      FromTorchData(Squares(20).map(torch::data::transforms::Stack<>())));
}

TEST(TorchDataTest, ExamplesMayHaveNoTarget) {
  const DatasetPtr data = FromTorchData(
      torch::data::datasets::TensorDataset(torch::arange(6).view({3, 2})));
  const AnyBatch batch = data->Gather(torch::arange(1, 3));
  EXPECT_TRUE(
      batch.As<Example>().input.equal(torch::arange(2, 6).view({2, 2})));
  EXPECT_FALSE(batch.As<Example>().target.defined());
}

TEST(TorchDataTest, ErrorsNameTheSample) {
  const DatasetPtr data = FromTorchData(Squares(100));
  EXPECT_THROW(data->Gather(torch::arange(70, 80)), SampleError);
}

TEST(TorchDataTest, HeaderExample) {
  const at::Tensor images = torch::ones({4, 2, 2});
  const DatasetPtr data =
      FromTorchData(torch::data::datasets::TensorDataset(images));
  EXPECT_EQ(data->size(), 4);
}

}  // namespace
}  // namespace trainyard

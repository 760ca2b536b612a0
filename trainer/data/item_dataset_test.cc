#include "trainer/data/item_dataset.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>

namespace trainyard {
namespace {

class Squares final : public ItemDataset<Example> {
 public:
  int64_t size() const override { return 100; }
  Example Get(int64_t i) const override {
    return {at::full({1}, i), at::full({1}, i * i)};
  }
};

TEST(ItemDatasetTest, HeaderExample) {
  const at::Tensor indices = at::tensor({5, 0, 3}, at::kLong);
  const DatasetPtr made = MakeItemDataset<Example>(100, [](int64_t i) {
    return Example{at::full({1}, i), at::full({1}, i * i)};
  });
  const Squares squares;
  for (const Dataset* data :
       {made.get(), static_cast<const Dataset*>(&squares)}) {
    const AnyBatch batch = data->Gather(indices);
    EXPECT_EQ(batch.size(), 3);
    EXPECT_TRUE(at::equal(batch.As<Example>().target,
                          at::tensor({25, 0, 9}, at::kLong).view({3, 1})));
  }
}

struct Ragged {
  at::Tensor values, lengths;
  int64_t records() const { return lengths.size(0); }
  auto tensors() { return std::tie(values, lengths); }
};

TEST(ItemDatasetTest, CollateMayReturnAnotherBatchType) {
  const DatasetPtr data = MakeItemDataset<at::Tensor>(
      10, [](int64_t i) { return at::full({i}, i); },
      [](std::vector<at::Tensor> items) {
        std::vector<int64_t> lengths;
        for (const at::Tensor& item : items) lengths.push_back(item.size(0));
        return AnyBatch(Ragged{at::arange(3), at::tensor(lengths)});
      });
  const AnyBatch batch = data->Gather(at::tensor({2, 1}, at::kLong));
  EXPECT_EQ(batch.size(), 2);
  EXPECT_TRUE(
      at::equal(batch.As<Ragged>().lengths, at::tensor({2, 1}, at::kLong)));
}

TEST(ItemDatasetTest, ErrorNamesTheSampleAndNestsTheCause) {
  const DatasetPtr data = MakeItemDataset<at::Tensor>(10, [](int64_t i) {
    if (i == 7) throw std::out_of_range("no such file");
    return at::full({1}, i);
  });
  try {
    data->Gather(at::arange(10));
    FAIL() << "nothing was thrown";
  } catch (const SampleError& error) {
    EXPECT_EQ(error.index(), 7);
    EXPECT_STREQ(error.what(), "sample 7: no such file");
    EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
  }
}

class EpochNumber final : public ItemDataset<at::Tensor> {
 public:
  int64_t size() const override { return 2; }
  at::Tensor Get(int64_t index) const override { return GetIn(0, index); }
  at::Tensor GetIn(int64_t epoch, int64_t) const override {
    return at::full({}, epoch);
  }
};

TEST(ItemDatasetTest, PassesTheEpochToGetIn) {
  EXPECT_EQ(
      EpochNumber().GatherIn(4, at::arange(1)).As<at::Tensor>().item<int64_t>(),
      4);
  EXPECT_EQ(EpochNumber().Gather(at::arange(1)).As<at::Tensor>().item<int>(),
            0);
}

}  // namespace
}  // namespace trainyard

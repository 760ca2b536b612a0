#include "trainer/data/datasets/subset.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/data/tensor_dataset.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

DatasetPtr Numbers(int64_t size) { return MakeTensorDataset(at::arange(size)); }

at::Tensor All(const DatasetPtr& data) {
  return data->Gather(at::arange(data->size())).As<at::Tensor>();
}

TEST(SubsetTest, HasTheChosenSamplesInOrder) {
  const at::Tensor chosen = at::tensor({7, 2, 2, 9}, at::kLong);
  const DatasetPtr subset = SubsetOf(Numbers(10), chosen);
  EXPECT_EQ(subset->size(), 4);
  EXPECT_TRUE(at::equal(All(subset), chosen));
  EXPECT_TRUE(at::equal(
      subset->GatherIn(1, at::tensor({3, 0}, at::kLong)).As<at::Tensor>(),
      at::tensor({9, 7}, at::kLong)));
}

TEST(SubsetTest, RefusesIndicesThatAreNotThere) {
  EXPECT_THROW(SubsetOf(nullptr, at::arange(1)), c10::ValueError);
  EXPECT_THROW(SubsetOf(Numbers(10), at::arange(0)), c10::ValueError);
  EXPECT_THROW(SubsetOf(Numbers(10), at::arange(11)), c10::ValueError);
  EXPECT_THROW(SubsetOf(Numbers(10), at::arange(-1, 3)), c10::ValueError);
}

TEST(RandomSplitTest, EachSampleIsInExactlyOnePart) {
  const DatasetPtr data = Numbers(100);
  const auto sizes = SplitSizes(100, {0.7, 0.2, 0.1});
  EXPECT_THAT(sizes, ElementsAre(70, 20, 10));
  const std::vector<DatasetPtr> parts = RandomSplit(data, sizes, 1);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1]->size(), 20);
  const at::Tensor all = at::cat({All(parts[0]), All(parts[1]), All(parts[2])});
  EXPECT_FALSE(at::equal(all, at::arange(100)));
  EXPECT_TRUE(at::equal(std::get<0>(all.sort()), at::arange(100)));
  EXPECT_TRUE(at::equal(All(RandomSplit(data, sizes, 1)[0]), All(parts[0])));
  EXPECT_FALSE(at::equal(All(RandomSplit(data, sizes, 2)[0]), All(parts[0])));
}

TEST(RandomSplitTest, SizesAddUp) {
  EXPECT_THAT(SplitSizes(10, {1.0 / 3, 1.0 / 3, 1.0 / 3}),
              ElementsAre(3, 4, 3));
  EXPECT_THROW(SplitSizes(10, {0.5, 0.4}), c10::ValueError);
  EXPECT_THROW(SplitSizes(10, {1.5, -0.5}), c10::ValueError);
  EXPECT_THROW(RandomSplit(Numbers(10), {5, 4}, 1), c10::ValueError);
  EXPECT_THROW(RandomSplit(Numbers(10), {10, 0}, 1), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

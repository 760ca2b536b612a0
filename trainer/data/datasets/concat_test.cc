#include "trainer/data/datasets/concat.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "trainer/data/tensor_dataset.h"

namespace trainyard {
namespace {

DatasetPtr Numbers(int64_t begin, int64_t end) {
  const at::Tensor numbers = at::arange(begin, end);
  return MakeTensorDataset(Example{numbers, numbers.neg()});
}

TEST(ConcatTest, ReadsTheJoinedDatasetsInAnyOrder) {
  const DatasetPtr all =
      Concat({Numbers(0, 5), Concat({Numbers(5, 6), Numbers(6, 20)})});
  EXPECT_EQ(all->size(), 20);
  for (const at::Tensor& order :
       {at::arange(20), at::randperm(20), at::arange(5),
        at::tensor({19, 0, 5, 0}, at::kLong)}) {
    const AnyBatch batch = all->GatherIn(0, order);
    EXPECT_TRUE(at::equal(batch.As<Example>().input, order));
    EXPECT_TRUE(at::equal(batch.As<Example>().target, order.neg()));
  }
}

TEST(ConcatTest, RejectsInvalidArguments) {
  EXPECT_THROW(Concat({}), c10::ValueError);
  EXPECT_THROW(Concat({Numbers(0, 1), nullptr}), c10::ValueError);
  EXPECT_THROW(Concat({Numbers(0, 5)})->Gather(at::arange(6)), c10::IndexError);
  const DatasetPtr other = MakeTensorDataset(at::arange(3));
  EXPECT_THROW(Concat({Numbers(0, 5), other})->Gather(at::arange(8)),
               c10::TypeError);
}

}  // namespace
}  // namespace trainyard

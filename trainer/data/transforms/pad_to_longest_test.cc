#include "trainer/data/transforms/pad_to_longest.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "trainer/data/item_dataset.h"

namespace trainyard {
namespace {

TEST(PadToLongestTest, PadsAndKeepsLengths) {
  const PaddedSequences padded = PadToLongest(
      {at::arange(2), at::arange(0), at::arange(3)}, {.value = -1});
  EXPECT_TRUE(at::equal(
      padded.values,
      at::tensor({0, 1, -1, -1, -1, -1, 0, 1, 2}, at::kLong).view({3, 3})));
  EXPECT_TRUE(at::equal(padded.lengths, at::tensor({2, 0, 3}, at::kLong)));
  EXPECT_TRUE(at::equal(padded.Mask(), padded.values.ge(0)));
}

TEST(PadToLongestTest, LengthMayBeRoundedUp) {
  EXPECT_EQ(
      PadToLongest({at::zeros({5, 2}), at::zeros({1, 2})}, {.multiple_of = 4})
          .values.sizes(),
      (at::IntArrayRef{2, 8, 2}));
}

TEST(PadToLongestTest, IsACollateFunction) {
  const DatasetPtr data = MakeItemDataset<at::Tensor>(
      5, [](int64_t i) { return at::arange(i); },
      [](std::vector<at::Tensor> items) {
        return AnyBatch(PadToLongest(items));
      });
  const AnyBatch batch = data->Gather(at::tensor({1, 4}, at::kLong));
  EXPECT_EQ(batch.size(), 2);
  EXPECT_EQ(batch.As<PaddedSequences>().values.size(1), 4);
}

TEST(PadToLongestTest, RejectsInvalidArguments) {
  EXPECT_THROW(PadToLongest({}), c10::ValueError);
  EXPECT_THROW(PadToLongest({at::zeros({})}), c10::ValueError);
  EXPECT_THROW(PadToLongest({at::zeros({2, 3}), at::zeros({2, 4})}),
               c10::ValueError);
  EXPECT_THROW(PadToLongest({at::zeros({2}), at::arange(2)}), c10::ValueError);
  EXPECT_THROW(PadToLongest({at::zeros({2})}, {.multiple_of = 0}),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

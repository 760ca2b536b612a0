#include "backends/sharded/shard_layout.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include "trainer/model/tensor_slice.h"

namespace trainyard {
namespace {

TEST(ShardLayoutTest, HeaderExample) {
  const at::Tensor weight = at::arange(96).reshape({8, 12});
  const int64_t rank = 1;
  const ShardLayout layout(/*ranks=*/4);
  const ShardRange mine = layout.RangeOf(weight.numel(), rank);
  const at::Tensor slice = SliceOf(weight, mine.begin, mine.count);
  EXPECT_TRUE(slice.equal(at::arange(32, 64)));
}

// Every element belongs to exactly one rank, and no rank has more than its even
// share and a unit.
TEST(ShardLayoutTest, RangesTileEveryTensor) {
  for (const int64_t ranks : {1, 2, 3, 4, 7}) {
    const ShardLayout layout(ranks);
    for (int64_t numel = 0; numel < 300; ++numel) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const ShardRange range = layout.RangeOf(numel, rank);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.count, layout.Largest(numel));
        EXPECT_LT(range.count, numel / ranks + 1 + ShardLayout::kUnit);
        next += range.count;
      }
      EXPECT_EQ(next, numel);
      EXPECT_EQ(layout.RangeOf(numel, 0).count, layout.Largest(numel));
    }
  }
}

}  // namespace
}  // namespace trainyard

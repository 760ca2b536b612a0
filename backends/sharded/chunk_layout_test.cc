#include "backends/sharded/chunk_layout.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

class ChunkLayoutTest : public ::testing::Test {
 protected:
  const ShardLayout layout{3};
  const at::Tensor weight = at::arange(100, at::kFloat).reshape({10, 10});
  const at::Tensor bias = at::arange(5, at::kFloat);
};

TEST_F(ChunkLayoutTest, HeaderExample) {
  const at::Tensor before = weight.clone();
  const ChunkLayout chunks({weight, bias}, layout);
  at::Tensor buffer = at::empty({layout.ranks(), chunks.chunk()});
  chunks.Cut(0, weight, /*scale=*/1, buffer);
  weight.zero_();
  chunks.Join(0, buffer, weight);  // the inverse
  EXPECT_TRUE(weight.equal(before));
}

TEST_F(ChunkLayoutTest, CutsScaledSlicesAndFillsTheRestWithZeros) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const ChunkLayout chunks({weight, bias}, layout);
    at::Tensor buffer = at::full({3, chunks.chunk()}, 7, type);
    chunks.Cut(1, bias.to(type), 0.5, buffer);
    // All five belong to rank 0.
    EXPECT_TRUE(chunks.SliceIn(1, 0, buffer[0]).equal(bias.to(type).mul(0.5)));
    EXPECT_EQ(chunks.SliceIn(1, 1, buffer[1]).numel(), 0);
    EXPECT_EQ(buffer[1].eq(0).sum().item<int64_t>(), 5);
    EXPECT_EQ(buffer[0].eq(7).sum().item<int64_t>(), chunks.chunk() - 5);
    chunks.CutZeros(1, buffer);
    EXPECT_EQ(buffer[0].eq(0).sum().item<int64_t>(), 5);
  }
}

TEST_F(ChunkLayoutTest, HasAFlagForEachTensorInEveryRow) {
  const ChunkLayout chunks({weight, bias}, layout);
  at::Tensor buffer = at::full({3, chunks.chunk()}, 7, at::kFloat);
  chunks.SetFlag(0, false, buffer);
  chunks.SetFlag(1, true, buffer);
  for (int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(chunks.Flags(buffer[rank]), (std::vector<float>{0, 1}));
  }
}

TEST_F(ChunkLayoutTest, JoinsAllSlicesButOne) {
  const ChunkLayout chunks({bias, weight}, layout);
  at::Tensor buffer = at::empty({3, chunks.chunk()});
  for (int64_t rank = 0; rank < 3; ++rank) {
    const ShardRange range = layout.RangeOf(weight.numel(), rank);
    at::Tensor row = buffer[rank];
    chunks.Put(1, rank,
               weight.reshape({-1}).narrow(0, range.begin, range.count), row);
  }
  const at::Tensor whole = at::zeros_like(weight);
  chunks.Join(1, buffer, whole, /*except=*/1);
  at::Tensor expected = weight.clone();
  const ShardRange left_out = layout.RangeOf(weight.numel(), 1);
  expected.view({-1}).narrow(0, left_out.begin, left_out.count).zero_();
  EXPECT_TRUE(whole.equal(expected));
}

}  // namespace
}  // namespace trainyard

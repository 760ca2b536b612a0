#include "trainer/data/batch.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

struct Graph {
  at::Tensor nodes, edges, label;
  auto tensors() { return std::tie(nodes, edges, label); }
};

TEST(AnyBatchTest, SizeIsRowsOfTheFirstTensor) {
  EXPECT_EQ(
      AnyBatch(Graph{at::zeros({3, 2}), at::zeros({7, 2}), at::zeros({1})})
          .size(),
      3);
}

TEST(AnyBatchTest, GivesBackWhatItHolds) {
  const at::Tensor input = at::arange(6).view({3, 2});
  const AnyBatch batch(Example{input, at::zeros({3})});
  const AnyBatch copy = batch;  // NOLINT: that a copy shares is the point
  EXPECT_TRUE(copy.As<Example>().input.is_same(input));
}

TEST(AnyBatchTest, AnotherTypeIsAnErrorThatNamesBoth) {
  const AnyBatch batch(Example{at::zeros({1}), at::zeros({1})});
  try {
    batch.As<Graph>();
    FAIL() << "an Example passed for a Graph";
  } catch (const c10::TypeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("Example"));
    EXPECT_THAT(e.what(), HasSubstr("Graph"));
  }
}

TEST(AnyBatchTest, StaysItselfOnTheSameDevice) {
  const at::Tensor input = at::zeros({2});
  const AnyBatch batch(Example{input, at::zeros({2})});
  EXPECT_TRUE(batch.To(at::kCPU).As<Example>().input.is_same(input));
}

TEST(AnyBatchTest, MovesEveryTensor) {
  const AnyBatch batch(
      Graph{at::zeros({3, 2}), at::zeros({7, 2}), at::zeros({1})});
  const AnyBatch moved = batch.To(at::kMeta);
  EXPECT_TRUE(moved.As<Graph>().nodes.is_meta());
  EXPECT_TRUE(moved.As<Graph>().edges.is_meta());
  EXPECT_TRUE(moved.As<Graph>().label.is_meta());
  EXPECT_EQ(moved.size(), 3);
  EXPECT_FALSE(batch.As<Graph>().nodes.is_meta());
}

TEST(AnyBatchTest, ABatchWithoutRowsIsRefused) {
  EXPECT_THROW(AnyBatch(Example{at::zeros({}), at::zeros({})}),
               c10::ValueError);
  EXPECT_THROW(AnyBatch(Example{}), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

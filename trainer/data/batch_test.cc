#include "trainer/data/batch.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
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

TEST(AnyBatchTest, AsReturnsTheBatch) {
  const at::Tensor input = at::arange(6).view({3, 2});
  const AnyBatch batch(Example{input, at::zeros({3})});
  const AnyBatch copy = batch;  // NOLINT: that a copy shares is the point
  EXPECT_TRUE(copy.As<Example>().input.is_same(input));
}

TEST(AnyBatchTest, WrongTypeErrorNamesBothTypes) {
  const AnyBatch batch(Example{at::zeros({1}), at::zeros({1})});
  try {
    batch.As<Graph>();
    FAIL() << "an Example passed for a Graph";
  } catch (const c10::TypeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("Example"));
    EXPECT_THAT(e.what(), HasSubstr("Graph"));
  }
}

TEST(AnyBatchTest, ToTheSameDeviceDoesNotCopy) {
  const at::Tensor input = at::zeros({2});
  const AnyBatch batch(Example{input, at::zeros({2})});
  EXPECT_TRUE(batch.To(at::kCPU).As<Example>().input.is_same(input));
}

TEST(AnyBatchTest, ToMovesEveryTensor) {
  const AnyBatch batch(
      Graph{at::zeros({3, 2}), at::zeros({7, 2}), at::zeros({1})});
  const AnyBatch moved = batch.To(at::kMeta);
  EXPECT_TRUE(moved.As<Graph>().nodes.is_meta());
  EXPECT_TRUE(moved.As<Graph>().edges.is_meta());
  EXPECT_TRUE(moved.As<Graph>().label.is_meta());
  EXPECT_EQ(moved.size(), 3);
  EXPECT_FALSE(batch.As<Graph>().nodes.is_meta());
}

TEST(AnyBatchTest, RejectsABatchWithoutRows) {
  EXPECT_THROW(AnyBatch(Example{at::zeros({}), at::zeros({})}),
               c10::ValueError);
  EXPECT_THROW(AnyBatch(Example{}), c10::ValueError);
}

using Named = std::map<std::string, at::Tensor>;

TEST(AnyBatchTest, MapOfTensorsIsABatch) {
  const AnyBatch batch(
      Named{{"label", at::zeros({3})}, {"mask", at::zeros({3, 5})}});
  EXPECT_EQ(batch.size(), 3);
  EXPECT_TRUE(batch.To(at::kMeta).As<Named>().at("mask").is_meta());
  EXPECT_THROW(AnyBatch(Named{}), c10::ValueError);
}

struct Pair {
  Graph left;
  std::vector<at::Tensor> right;
  auto tensors() { return std::tie(left, right); }
};

TEST(AnyBatchTest, BatchesMayBeNested) {
  const AnyBatch batch(
      Pair{{at::zeros({3}), at::ones({3}), at::Tensor()}, {at::zeros({3})}});
  EXPECT_EQ(batch.size(), 3);
  EXPECT_EQ(batch.tensors().size(), 4);
  const AnyBatch moved = batch.To(at::kMeta);
  EXPECT_TRUE(moved.As<Pair>().left.edges.is_meta());
  EXPECT_TRUE(moved.As<Pair>().right[0].is_meta());
  EXPECT_FALSE(moved.As<Pair>().left.label.defined());
}

struct Tokens {
  at::Tensor ids, documents;
  int64_t records() const { return documents.numel(); }
  auto tensors() { return std::tie(ids, documents); }
};

TEST(AnyBatchTest, RecordsOverridesTheRowCount) {
  EXPECT_EQ(AnyBatch(Tokens{at::zeros({100}), at::zeros({4})}).size(), 4);
}

TEST(AnyBatchTest, SlicesRows) {
  const AnyBatch batch(
      Named{{"a", at::arange(6)}, {"b", at::arange(12).view({6, 2})}});
  const AnyBatch slice = batch.Slice(2, 4);
  EXPECT_EQ(slice.size(), 2);
  EXPECT_TRUE(at::equal(slice.As<Named>().at("a"), at::arange(2, 4)));
  EXPECT_TRUE(
      at::equal(slice.As<Named>().at("b"), at::arange(4, 8).view({2, 2})));
  EXPECT_THROW(batch.Slice(2, 7), c10::ValueError);
  EXPECT_THROW(AnyBatch(Graph{at::zeros({3}), at::zeros({7}), at::zeros({3})})
                   .Slice(0, 1),
               c10::ValueError);
}

TEST(AnyBatchTest, PaddingIsNotCounted) {
  const AnyBatch batch = AnyBatch(Example{at::arange(5), at::arange(5)});
  const AnyBatch padded = batch.WithPadding(2);
  EXPECT_EQ(padded.size(), 3);
  EXPECT_EQ(padded.padding(), 2);
  EXPECT_EQ(padded.As<Example>().input.size(0), 5);
  EXPECT_EQ(padded.To(at::kMeta).size(), 3);
  EXPECT_EQ(padded.To(at::kMeta).padding(), 2);

  const AnyBatch real = padded.WithoutPadding();
  EXPECT_EQ(real.size(), 3);
  EXPECT_EQ(real.padding(), 0);
  EXPECT_TRUE(at::equal(real.As<Example>().input, at::arange(3)));

  EXPECT_EQ(
      AnyBatch(Tokens{at::zeros({4, 9}), at::zeros({4})}).WithPadding(4).size(),
      0);
  EXPECT_THROW(batch.WithPadding(6), c10::ValueError);
  EXPECT_THROW(batch.WithPadding(-1), c10::ValueError);
}

TEST(ConcatBatchesTest, JoinsRowsInOrder) {
  const AnyBatch left(Named{{"a", at::arange(2)}, {"b", at::zeros({2, 3})}});
  const AnyBatch right(Named{{"a", at::arange(2, 5)}, {"b", at::ones({3, 3})}});
  const AnyBatch both = ConcatBatches({left, right});
  EXPECT_EQ(both.size(), 5);
  EXPECT_TRUE(at::equal(both.As<Named>().at("a"), at::arange(5)));
  EXPECT_EQ(both.As<Named>().at("b").sum().item<int>(), 9);
}

TEST(ConcatBatchesTest, RejectsInvalidArguments) {
  const AnyBatch one(Named{{"a", at::arange(2)}});
  EXPECT_THROW(ConcatBatches({}), c10::ValueError);
  EXPECT_THROW(ConcatBatches({one, AnyBatch(at::arange(2))}), c10::TypeError);
  EXPECT_THROW(ConcatBatches({one, AnyBatch(Named{{"b", at::arange(2)}})}),
               c10::ValueError);
  EXPECT_THROW(ConcatBatches({one, one.WithPadding(1)}), c10::ValueError);
  EXPECT_THROW(
      ConcatBatches({AnyBatch(Example{at::zeros({1}), at::Tensor()}),
                     AnyBatch(Example{at::zeros({1}), at::zeros({1})})}),
      c10::ValueError);
}

}  // namespace
}  // namespace trainyard

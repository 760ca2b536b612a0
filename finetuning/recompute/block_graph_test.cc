#include "finetuning/recompute/block_graph.h"

#include <ATen/SequenceNumber.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/variable.h>

#include <thread>

namespace trainyard {
namespace {

using torch::autograd::impl::gradient_edge;

at::Tensor Leaf(double value) { return at::full({2}, value).requires_grad_(); }

TEST(BlockGraphTest, EndsAtInputsParametersAndTensorsFromOutside) {
  const at::Tensor leaf = Leaf(2);
  const at::Tensor outside = leaf * 3;
  at::Tensor elsewhere;
  // Another thread counts from the beginning: its numbers say nothing here.
  std::thread([&] {
    for (int i = 0; i < 100; ++i) at::sequence_number::get_and_increment();
    elsewhere = leaf * 5;
  }).join();
  const at::Tensor weight = Leaf(7);
  const uint64_t start = at::sequence_number::peek();
  const at::Tensor inside = outside * weight + elsewhere;
  BlockGraph graph({inside * inside, at::ones({1}), outside}, start);
  EXPECT_EQ(graph.ends().size(), 3);
  const std::vector<at::Tensor> gradients =
      graph.Backward({at::ones({2}), {}, at::ones({2})}, false);
  // inside is 6 * 7 + 10 = 52.
  for (size_t i = 0; i < graph.ends().size(); ++i) {
    const auto& end = graph.ends()[i];
    const double expected = end == gradient_edge(outside)  ? 104 * 7 + 1
                            : end == gradient_edge(weight) ? 104 * 6
                                                           : 104;
    EXPECT_TRUE(at::equal(gradients[i], at::full({2}, expected))) << i;
  }
  EXPECT_FALSE(leaf.grad().defined());
  EXPECT_FALSE(weight.grad().defined());
}

TEST(BlockGraphTest, WithoutGradientsThereAreNone) {
  const at::Tensor weight = Leaf(7);
  const uint64_t start = at::sequence_number::peek();
  BlockGraph graph({weight * 2}, start);
  EXPECT_FALSE(graph.Backward({at::Tensor()}, false).at(0).defined());
  EXPECT_TRUE(BlockGraph({at::ones({1})}, start).ends().empty());
}

}  // namespace
}  // namespace trainyard

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

TEST(BlockGraphTest, HeaderExample) {
  const at::Tensor weight = Leaf(3), grad = at::ones({2});
  const std::vector<at::Tensor> inputs = {Leaf(2)};
  const auto block = [&](const std::vector<at::Tensor>& in) {
    return std::vector<at::Tensor>{(in[0] * weight).exp().log()};
  };
  const uint64_t start = at::sequence_number::peek();
  const std::vector<at::Tensor> outputs = block(inputs);
  BlockGraph graph(outputs, start);
  const std::vector<at::Tensor> gradients =
      graph.Backward({grad}, /*create_graph=*/false);
  ASSERT_EQ(graph.ends().size(), 2);
  const bool input_first = graph.ends()[0] == gradient_edge(inputs[0]);
  EXPECT_TRUE(gradients[0].allclose(at::full({2}, input_first ? 3.0 : 2.0)));
  EXPECT_TRUE(gradients[1].allclose(at::full({2}, input_first ? 2.0 : 3.0)));
}

TEST(BlockGraphTest, EndsAtInputsParametersAndTensorsFromOutside) {
  const at::Tensor leaf = Leaf(2);
  const at::Tensor outside = leaf * 3;
  at::Tensor elsewhere;
  // Sequence numbers are per thread: those of another thread mean nothing here.
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

TEST(BlockGraphTest, NoOutputGradientGivesNoGradient) {
  const at::Tensor weight = Leaf(7);
  const uint64_t start = at::sequence_number::peek();
  BlockGraph graph({weight * 2}, start);
  EXPECT_FALSE(graph.Backward({at::Tensor()}, false).at(0).defined());
  EXPECT_TRUE(BlockGraph({at::ones({1})}, start).ends().empty());
}

}  // namespace
}  // namespace trainyard

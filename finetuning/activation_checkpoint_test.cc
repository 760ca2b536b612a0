#include "finetuning/activation_checkpoint.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <optional>
#include <string>

#include "backends/autocast.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<at::Tensor>;

at::Device Device() { return at::Device(TestDevice()); }

constexpr int64_t kWidth = 16;

// A perceptron with dropout, added to its input.
struct Block {
  at::Tensor widen =
      at::randn({4 * kWidth, kWidth}, Device()).div_(4).requires_grad_();
  at::Tensor narrow =
      at::randn({kWidth, 4 * kWidth}, Device()).div_(8).requires_grad_();

  at::Tensor operator()(const at::Tensor& x) const {
    return x + at::linear(at::dropout(at::gelu(at::linear(x, widen)), 0.3,
                                      /*train=*/true),
                          narrow);
  }
};

// What a run leaves: its output, gradients, and the next random numbers.
Tensors Trained(const std::function<at::Tensor(const std::vector<Block>&,
                                               const at::Tensor&)>& forward,
                bool input_has_gradient = true) {
  at::manual_seed(5);
  const std::vector<Block> blocks(4);
  const at::Tensor input =
      at::randn({3, kWidth}, Device()).requires_grad_(input_has_gradient);
  const at::Tensor output = forward(blocks, input);
  const at::Tensor between = at::rand({2}, Device());
  output.square().sum().backward();
  Tensors result = {output, between, at::rand({2}, Device())};
  if (input_has_gradient) result.push_back(input.grad());
  for (const Block& block : blocks) {
    result.push_back(block.widen.grad());
    result.push_back(block.narrow.grad());
  }
  return result;
}

at::Tensor Plain(const std::vector<Block>& blocks, const at::Tensor& input) {
  at::Tensor x = input;
  for (const Block& block : blocks) x = block(x);
  return x;
}

at::Tensor EachBlock(const std::vector<Block>& blocks,
                     const at::Tensor& input) {
  at::Tensor x = input;
  for (const Block& block : blocks) x = CheckpointActivations(block, x);
  return x;
}

// Halves of the model, and the blocks in them.
at::Tensor Nested(const std::vector<Block>& blocks, const at::Tensor& input) {
  at::Tensor x = input;
  for (size_t half = 0; half < blocks.size(); half += 2) {
    x = CheckpointActivations(
        [&blocks, half](const at::Tensor& y) {
          return CheckpointActivations(blocks[half + 1],
                                       CheckpointActivations(blocks[half], y));
        },
        x);
  }
  return x;
}

void ExpectEqual(const Tensors& actual, const Tensors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_TRUE(actual[i].defined() && expected[i].defined()) << i;
    EXPECT_TRUE(at::equal(actual[i], expected[i])) << i;
  }
}

TEST(ActivationCheckpointTest, GradientsAreTheSameToTheBit) {
  ExpectEqual(Trained(EachBlock), Trained(Plain));
  ExpectEqual(Trained(Nested), Trained(Plain));
}

TEST(ActivationCheckpointTest, ParametersLearnFromInputsWithoutGradient) {
  ExpectEqual(Trained(EachBlock, false), Trained(Plain, false));
}

TEST(ActivationCheckpointTest, GradientsAreTheSameUnderAutocast) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const auto cast = [&](auto forward) {
      return Trained(
          [&](const std::vector<Block>& blocks, const at::Tensor& input) {
            const Autocast autocast(Device().type(), dtype);
            return forward(blocks, input);
          });
    };
    ExpectEqual(cast(EachBlock), cast(Plain));
    ExpectEqual(cast(Nested), cast(Plain));
    EXPECT_FALSE(at::equal(cast(Plain)[0], Trained(Plain)[0]));
  }
}

// A weight's cast in the first block must not stand in for that in the second.
TEST(ActivationCheckpointTest, BlocksShareParametersUnderAutocast) {
  Tensors gradients;
  for (const bool checkpointed : {false, true}) {
    at::manual_seed(5);
    const Block block;
    const at::Tensor input = at::randn({3, kWidth}, Device());
    {
      const Autocast autocast(Device().type(), at::kBFloat16);
      at::Tensor x = input;
      for (int i = 0; i < 2; ++i) {
        x = checkpointed ? CheckpointActivations(block, x) : block(x);
      }
      x.sum().backward();
    }
    gradients.push_back(block.widen.grad());
  }
  // Terms are added after the cast to float32 instead of before it.
  EXPECT_TRUE(gradients[1].allclose(gradients[0], 0.02, 0.02));
}

TEST(ActivationCheckpointTest, TakesAndReturnsSeveralTensors) {
  const auto block = [](const Tensors& in) {
    return Tensors{in[0] * in[1], in[2] + 1, in[1].exp() * in[2], in[0],
                   in[0].detach() * 2};
  };
  Tensors results[2];
  for (const bool checkpointed : {false, true}) {
    at::manual_seed(3);
    const at::Tensor a = at::rand({4}, Device()).requires_grad_();
    const at::Tensor b = at::rand({4}, Device()).requires_grad_();
    const Tensors inputs = {a, b * 2, at::rand({4}, Device())};
    const Tensors out =
        checkpointed ? CheckpointActivations(block, inputs) : block(inputs);
    EXPECT_TRUE(out[0].requires_grad());
    EXPECT_FALSE(out[1].requires_grad());
    EXPECT_FALSE(out[4].requires_grad());
    (out[0] * out[3]).sum().backward({}, /*retain_graph=*/true);
    // The third output alone, over the same graph.
    out[2].sum().backward();
    results[checkpointed] = {a.grad(), b.grad(), out[1], out[4]};
  }
  ExpectEqual(results[1], results[0]);
}

TEST(ActivationCheckpointTest, RunsOnceWhereNothingIsRecorded) {
  int runs = 0;
  const auto block = [&](const at::Tensor& x) {
    ++runs;
    return x * 2;
  };
  const at::Tensor x = at::ones({2}, Device()).requires_grad_();
  {
    const c10::AutoGradMode no_gradients(false);
    EXPECT_FALSE(CheckpointActivations(block, x).requires_grad());
  }
  EXPECT_FALSE(CheckpointActivations(block, x.detach()).requires_grad());
  EXPECT_EQ(runs, 2);
  CheckpointActivations(block, x).sum().backward();
  EXPECT_EQ(runs, 4);
}

TEST(ActivationCheckpointTest, KeepsNothingOfTheBlock) {
  const at::Tensor x = at::ones({2}, Device()).requires_grad_();
  std::optional<c10::weak_intrusive_ptr<c10::TensorImpl>> inside;
  const at::Tensor y = CheckpointActivations(
      [&](const at::Tensor& in) {
        const at::Tensor square = in.square();
        inside.emplace(square.getIntrusivePtr());
        return square.exp();
      },
      x);
  EXPECT_TRUE(inside->expired());
}

TEST(ActivationCheckpointTest, IsDifferentiatedTwice) {
  Tensors results[2];
  for (const bool checkpointed : {false, true}) {
    at::manual_seed(5);
    const Block block;
    const at::Tensor x = at::randn({3, kWidth}, Device()).requires_grad_();
    const at::Tensor y =
        checkpointed ? CheckpointActivations(block, x.exp()) : block(x.exp());
    const at::Tensor gradient =
        torch::autograd::grad({y.square().sum()}, {x}, {},
                              /*retain_graph=*/true, /*create_graph=*/true)[0];
    gradient.square().sum().backward();
    results[checkpointed] = {x.grad(), block.widen.grad(), block.narrow.grad()};
  }
  ASSERT_EQ(results[1].size(), results[0].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_TRUE(results[1][i].allclose(results[0][i], 1e-4, 1e-5)) << i;
  }
}

TEST(ActivationCheckpointTest, HooksSeeEachGradientOnce) {
  int calls = 0;
  const auto doubled = [&](const at::Tensor& gradient) {
    ++calls;
    return gradient * 2;
  };
  const at::Tensor leaf = at::ones({2}, Device()).requires_grad_();
  const at::Tensor weight = at::ones({2}, Device()).requires_grad_();
  const at::Tensor input = leaf * 1;
  input.register_hook(doubled);
  weight.register_hook(doubled);
  CheckpointActivations([&](const at::Tensor& x) { return x * weight; }, input)
      .sum()
      .backward();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(at::equal(leaf.grad(), at::ones({2}, Device()) * 2));
  EXPECT_TRUE(at::equal(weight.grad(), at::ones({2}, Device()) * 2));
}

TEST(ActivationCheckpointTest, RunningStatisticsMoveOnce) {
  const at::Tensor input = at::randn({8, 3}, Device()).requires_grad_();
  Tensors results[2];
  for (const bool checkpointed : {false, true}) {
    const at::Tensor mean = at::zeros({3}, Device()),
                     variance = at::ones({3}, Device());
    const auto normed = [=](const at::Tensor& x) {
      return at::batch_norm(x, {}, {}, mean, variance, /*training=*/true, 0.1,
                            1e-5, false);
    };
    const at::Tensor y = checkpointed
                             ? CheckpointActivations(
                                   normed, input, {.buffers = {mean, variance}})
                             : normed(input);
    y.square().mul(at::ones({3}, Device())).sum().backward();
    results[checkpointed] = {mean, variance};
  }
  ExpectEqual(results[1], results[0]);
}

TEST(ActivationCheckpointTest, SaysWhatMakesTheSecondPassDiffer) {
  const at::Tensor x = at::ones({2}, Device()).requires_grad_();
  const at::Tensor w = at::ones({2}, Device()).requires_grad_();
  const auto refusal =
      [&](std::function<at::Tensor(int, const at::Tensor&)> block) {
        int run = 0;
        const at::Tensor y = CheckpointActivations(
            [&](const at::Tensor& in) { return block(run++, in); }, x * 2);
        return ErrorOf<c10::Error>([&] { y.sum().backward(); });
      };
  EXPECT_THAT(refusal([&](int run, const at::Tensor& in) {
                return run == 0 ? in * w : in * 2;
              }),
              HasSubstr("depends on other tensors"));
  EXPECT_THAT(refusal([&](int run, const at::Tensor& in) {
                return run == 0 ? in * 2 : in.sum();
              }),
              HasSubstr("output 0 of the block has another shape"));
  EXPECT_THAT(refusal([&](int, const at::Tensor& in) { return in.mul_(2); }),
              HasSubstr("modified by an inplace operation"));
}

TEST(ActivationCheckpointTest, ASecondBackwardNeedsTheGraphKept) {
  const at::Tensor x = at::ones({2}, Device()).requires_grad_();
  const at::Tensor loss =
      CheckpointActivations([](const at::Tensor& y) { return y.exp(); }, x)
          .sum();
  loss.backward({}, /*retain_graph=*/true);
  loss.backward();
  EXPECT_TRUE(at::equal(x.grad(), x.detach().exp() * 2));
  EXPECT_THAT(ErrorOf<c10::Error>([&] { loss.backward(); }),
              HasSubstr("second time"));
}

TEST(ActivationCheckpointTest, OutputsMayBeChangedInPlace) {
  const at::Tensor x = at::ones({2}, Device()).requires_grad_();
  at::Tensor y = CheckpointActivations(
      [](const at::Tensor& in) { return in.exp() - 3; }, x);
  y.relu_().sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), at::zeros({2}, Device())));
}

}  // namespace
}  // namespace trainyard

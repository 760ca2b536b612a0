// The gradient of an accumulation window does not depend on how its samples are
// split into batches: a property, tried on random splits of random windows,
// with losses that are means over samples and over tokens.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback_handler.h"
#include "trainer/accelerator.h"
#include "trainer/loop/step_runner.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/sgd.h"
#include "trainer/task.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

// Sequences of tokens, of which only some count.
struct TokenBatch {
  at::Tensor tokens, counts;
  auto tensors() { return std::tie(tokens, counts); }
};

TokenBatch OnDevice(const at::Tensor& tokens, const at::Tensor& counts) {
  return {tokens.to(DefaultDevice()), counts.to(DefaultDevice())};
}

enum class MeanOver { kSamples, kTokens };

class TokenTask final : public TaskOf<TokenBatch> {
 public:
  explicit TokenTask(MeanOver over) : over_(over) {
    AddModel("model", model_.ptr());
    model_.to(DefaultDevice());
  }

  StepOutput TrainStep(const TokenBatch& batch, StepContext&) override {
    const at::Tensor losses = model_->forward(batch.tokens).pow(2).squeeze(-1);
    if (over_ == MeanOver::kSamples) return {.loss = losses.mean()};
    const at::Tensor counted = batch.counts.sum();
    return {.loss = losses.mul(batch.counts).sum().div(counted),
            .weight = counted.item<double>()};
  }
  StepOutput EvalStep(const TokenBatch&, StepContext&) override { return {}; }

  TestLinear model_{(at::manual_seed(3), 4), 1};

 private:
  MeanOver over_;
};

// Trains on the window's rows in batches of these sizes.
void RunWindow(const TokenBatch& window, const std::vector<int64_t>& sizes,
               TokenTask& task, Optimizer& optimizer, const Clip& clip,
               at::Tensor* gradient) {
  const auto backend = MakeBackend("sp");
  Control control;
  CallbackHandler callbacks(control);
  // What the update uses: the accumulated gradient by the window's divisor.
  callbacks.Add(On<GradientsReady>([&](const GradientsReady& e, Control&) {
    if (gradient == nullptr) return;
    *gradient = task.model_["weight"].grad().div(e.divisor);
  }));
  const auto batches = static_cast<int64_t>(sizes.size());
  RunClock clock({.grad_accum_steps = batches});
  StepRunner runner({task, {&optimizer}, *backend, callbacks, clock}, clip);
  int64_t row = 0;
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    runner.Run(AnyBatch(TokenBatch{window.tokens.narrow(0, row, size),
                                   window.counts.narrow(0, row, size)}),
               batches - i);
    row += size;
  }
  EXPECT_EQ(clock.updates(), 1);
}

at::Tensor WindowGradient(const TokenBatch& window, MeanOver over,
                          const std::vector<int64_t>& sizes) {
  TokenTask task(over);
  AdamW optimizer(*task.model_);
  at::Tensor gradient;
  RunWindow(window, sizes, task, optimizer, Clip{}, &gradient);
  return gradient;
}

// What the same window's update with this clip takes from the weight, by SGD
// with a rate of 1: the clipped gradient.
at::Tensor WindowStep(const TokenBatch& window, MeanOver over,
                      const std::vector<int64_t>& sizes, const Clip& clip) {
  TokenTask task(over);
  SGD optimizer(*task.model_, {.lr = 1});
  const at::Tensor before = task.model_["weight"].detach().clone();
  RunWindow(window, sizes, task, optimizer, clip, nullptr);
  return before.sub(task.model_["weight"].detach());
}

std::vector<int64_t> RandomSplit(int64_t rows, std::mt19937& random) {
  std::vector<int64_t> sizes;
  while (rows > 0) {
    sizes.push_back(1 + static_cast<int64_t>(random() % rows));
    rows -= sizes.back();
  }
  return sizes;
}

class SplitInvarianceTest : public ::testing::TestWithParam<MeanOver> {};

TEST_P(SplitInvarianceTest, HoldsForRandomSplits) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const auto rows = static_cast<int64_t>(1 + random() % 24);
    at::manual_seed(static_cast<uint64_t>(trial));
    // Every other row has no token that counts, and so may have a whole batch;
    // the window has one.
    const at::Tensor counts = at::randint(0, 2, {rows, 6}).to(at::kFloat);
    counts.mul_(at::randint(0, 2, {rows, 1}));
    counts[static_cast<int64_t>(random() % rows)][0] = 1;
    const TokenBatch window = OnDevice(at::randn({rows, 6, 4}), counts);
    const at::Tensor whole = WindowGradient(window, GetParam(), {rows});
    const std::vector<int64_t> split = RandomSplit(rows, random);
    const at::Tensor parts = WindowGradient(window, GetParam(), split);
    EXPECT_TRUE(at::allclose(parts, whole, 1e-5, 1e-6))
        << "trial " << trial << ", " << split.size() << " batches of " << rows;
  }
}

// The elements of the window's gradient are limited, and not those of each
// batch before they add up.
TEST_P(SplitInvarianceTest, ValuesAreClippedOncePerUpdate) {
  at::manual_seed(11);
  const TokenBatch window = OnDevice(at::randn({6, 5, 4}), at::ones({6, 5}));
  const at::Tensor gradient = WindowGradient(window, GetParam(), {6});
  const double limit = gradient.abs().median().item<double>();
  const auto step = [&](const std::vector<int64_t>& sizes) {
    return WindowStep(window, GetParam(), sizes, ClipValue(limit));
  };
  const at::Tensor expected = gradient.clamp(-limit, limit);
  EXPECT_FALSE(at::allclose(expected, gradient, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(step({6}), expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(step({2, 2, 2}), expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(step({1, 4, 1}), expected, 1e-5, 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Means, SplitInvarianceTest,
                         ::testing::Values(MeanOver::kSamples,
                                           MeanOver::kTokens),
                         [](const auto& test) {
                           return std::string(test.param == MeanOver::kSamples
                                                  ? "OverSamples"
                                                  : "OverTokens");
                         });

}  // namespace
}  // namespace trainyard

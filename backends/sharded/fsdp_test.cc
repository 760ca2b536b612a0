// Which parameters have memory under fsdp, and when; and how they are read and
// written outside of passes.
#include "backends/sharded/fsdp.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "backends/sharded/parameter_storage.h"
#include "backends/single_process.h"
#include "backends/testing/rank_group.h"
#include "backends/testing/unit_chain.h"
#include "backends/whole_parameters.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Backend> Alone() { return MakeSingleProcessBackend(at::kCPU); }

std::unique_ptr<Backend> Fsdp(const FsdpOptions& options = {}) {
  return MakeFsdpBackend(RankGroup(), Alone(), options);
}

TEST(FsdpTest, ParametersHaveNoMemoryBetweenPasses) {
  UnitChain chain;
  const auto backend = Fsdp();
  SGD optimizer(chain.Parameters(), {.lr = 0.1});
  backend->Prepare({chain.Model()});
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(chain.Whole(), 0);
    EXPECT_EQ(StorageBytes(chain.scale), 0);
    at::Tensor loss;
    backend->Forward([&] {
      EXPECT_GT(StorageBytes(chain.scale), 0);
      loss = chain.Loss(ChainInput());
      EXPECT_EQ(chain.Whole(), 0);
    });
    EXPECT_GT(StorageBytes(chain.scale), 0);
    backend->Backward(loss, {});
    EXPECT_EQ(chain.Whole(), 0);
    EXPECT_EQ(StorageBytes(chain.scale), 0);
    for (const at::Tensor& parameter : chain.Parameters()) {
      EXPECT_FALSE(parameter.grad().defined());
    }
    backend->FinishGradients(optimizer);
    backend->Update(optimizer, {});
    optimizer.ZeroGrad();
    backend->EndWindow();
  }
}

TEST(FsdpTest, AtMostTwoUnitsAreWhole) {
  for (const bool prefetch : {false, true}) {
    UnitChain chain;
    TrainChain(*Fsdp({.prefetch = prefetch}), chain, PlainChainLoss);
    // Once per layer, forward and backward.
    EXPECT_EQ(chain.counts, 3 * 2 * UnitChain::kLayers);
    EXPECT_GE(chain.most, 1);
    EXPECT_LE(chain.most, 2) << prefetch;
  }
}

TEST(FsdpTest, AnOptionKeepsUnitsUntilBackward) {
  UnitChain chain;
  TrainChain(*Fsdp({.keep_after_forward = true}), chain);
  EXPECT_EQ(chain.most, UnitChain::kLayers);
}

TEST(FsdpTest, AnOptionSaysWhatIsAUnit) {
  UnitChain chain;
  const auto is_unit = [](const std::string& name) { return name == "net.1"; };
  size_t whole = 0;
  TrainChain(*Fsdp({.is_unit = is_unit}), chain,
             [&](UnitChain& net, const at::Tensor& input) {
               whole = net.Whole();
               return net.Loss(input);
             });
  EXPECT_EQ(whole, UnitChain::kLayers - 1);
}

TEST(FsdpTest, EvaluatesWithoutGradients) {
  UnitChain chain;
  const double expected = chain.Loss(ChainInput()).item<double>();
  const auto backend = Fsdp();
  backend->Prepare({chain.Model()});
  const at::NoGradGuard no_gradients;
  for (int pass = 0; pass < 3; ++pass) {
    chain.most = 0;
    backend->Forward([&] {
      EXPECT_NEAR(chain.Loss(ChainInput()).item<double>(), expected, 1e-5);
    });
    EXPECT_EQ(chain.most, 1);
    EXPECT_EQ(chain.Whole(), 0);
    EXPECT_EQ(StorageBytes(chain.scale), 0);
  }
}

TEST(FsdpTest, ParametersAreWholeOnRequest) {
  UnitChain chain;
  const auto backend = Fsdp();
  backend->Prepare({chain.Model()});
  EXPECT_THAT(ErrorOf<c10::Error>([&] { chain.weights[3].sum(); }),
              HasSubstr("the parameters of net.3 are sharded now"));
  {
    const WholeParameters whole(*backend);
    EXPECT_TRUE(at::equal(chain.weights[3], UnitChain().weights[3]));
    const WholeParameters again(*backend);
    // Passes leave them whole.
    at::Tensor loss;
    backend->Forward([&] { loss = chain.Loss(ChainInput()); });
    backend->Backward(loss, {});
    EXPECT_EQ(chain.Whole(), UnitChain::kLayers);
  }
  EXPECT_EQ(chain.Whole(), 0);
}

TEST(FsdpTest, WhatIsWrittenCountsWhenItIsSaid) {
  UnitChain chain;
  const auto backend = Fsdp();
  backend->Prepare({chain.Model()});
  const auto write = [&](float value, bool say) {
    const WholeParameters whole(*backend);
    const at::NoGradGuard no_gradients;
    chain.weights[0].fill_(value);
    if (say) backend->ParametersLoaded();
  };
  write(3, /*say=*/true);
  write(4, /*say=*/false);
  const WholeParameters whole(*backend);
  EXPECT_TRUE(at::equal(chain.weights[0],
                        at::full({UnitChain::kSize, UnitChain::kSize}, 3.0F)));
}

TEST(FsdpTest, HoldsSlices) {
  UnitChain chain;
  const auto backend = Fsdp();
  EXPECT_FALSE(backend->HeldSlice(chain.weights[0]));
  backend->Prepare({chain.Model()});
  const auto held = backend->HeldSlice(chain.weights[0]);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->values.numel(),
            UnitChain::kSize * UnitChain::kSize / TestWorldSize());
  EXPECT_EQ(held->begin,
            UnitChain::kSize * UnitChain::kSize / TestWorldSize() * TestRank());
  EXPECT_EQ(held->sizes, chain.weights[0].sizes().vec());
  EXPECT_TRUE(backend->HeldSlice(chain.weights[0].detach()));
  EXPECT_FALSE(backend->HeldSlice(at::ones({2})));
  // What is copied into a slice is in the parameter.
  at::Tensor slice = held->values;
  slice.fill_(7);
  backend->ParametersLoaded();
  const WholeParameters whole(*backend);
  EXPECT_TRUE(at::equal(chain.weights[0],
                        at::full({UnitChain::kSize, UnitChain::kSize}, 7.0F)));
}

// A parameter that is a view of a larger tensor gets memory of its own.
TEST(FsdpTest, ParametersThatShareMemory) {
  const at::Tensor all = at::arange(64, at::kFloat);
  at::Tensor left = all.narrow(0, 0, 32), right = all.narrow(0, 32, 32);
  left.set_requires_grad(true);
  right.set_requires_grad(true);
  const auto backend = Fsdp();
  backend->Prepare({{"net", {{"left", left}, {"right", right}}}});
  const WholeParameters whole(*backend);
  EXPECT_TRUE(at::equal(left, at::arange(32, at::kFloat)));
  EXPECT_TRUE(at::equal(right, at::arange(32, 64, at::kFloat)));
}

}  // namespace
}  // namespace trainyard

// Models that use their units in unusual ways train under fsdp as on one
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/sharded/fsdp.h"
#include "backends/single_process.h"
#include "backends/testing/ddp_rig.h"
#include "backends/testing/rank_group.h"
#include "backends/testing/unit_chain.h"
#include "backends/whole_parameters.h"
#include "finetuning/activation_checkpoint.h"
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

void ExpectSameAsAlone(
    const ChainLoss& loss_of, const FsdpOptions& options = {},
    const std::function<void(UnitChain&)>& change = [](UnitChain&) {}) {
  UnitChain alone, sharded;
  change(alone);
  change(sharded);
  const auto expected = TrainChain(*Alone(), alone, loss_of);
  const auto actual = TrainChain(*Fsdp(options), sharded, loss_of);
  EXPECT_LT(Difference(actual, expected), 1e-6);
  EXPECT_GT(Difference(actual, UnitChain().Parameters()), 0.001);
  EXPECT_EQ(sharded.Whole(), 0);
}

TEST(FsdpPassesTest, EqualsOneProcess) {
  ExpectSameAsAlone(PlainChainLoss);
  ExpectSameAsAlone(PlainChainLoss, {.prefetch = false});
  ExpectSameAsAlone(PlainChainLoss, {.keep_after_forward = true});
  ExpectSameAsAlone(PlainChainLoss, {.is_unit = [](const std::string& name) {
                      return name == "net.1";
                    }});
  ExpectSameAsAlone(PlainChainLoss,
                    {.bucket_bytes = 64, .first_bucket_bytes = 64});
}

TEST(FsdpPassesTest, AUnitMayBeUsedTwice) {
  ExpectSameAsAlone([](UnitChain& net, const at::Tensor& input) {
    return net.Layer(2, net.Layer(0, net.Layer(2, input))).square().sum();
  });
}

// Another way in each step: what was gathered ahead of its use is dropped.
TEST(FsdpPassesTest, TheOrderMayChange) {
  UnitChain alone, sharded;
  const auto changing = [](int& step) {
    return [&step](UnitChain& net, const at::Tensor& input) {
      const bool swap = ++step % 2 == 0;
      const at::Tensor x = net.Layer(swap ? 1 : 3, input);
      return net.Layer(swap ? 3 : 0, x).mul(net.scale).sum();
    };
  };
  int first = 0, second = 0;
  const auto expected = TrainChain(*Alone(), alone, changing(first), 5);
  const auto actual = TrainChain(*Fsdp(), sharded, changing(second), 5);
  EXPECT_LT(Difference(actual, expected), 1e-6);
  EXPECT_EQ(sharded.Whole(), 0);
}

// A frozen weight is needed for the gradient of its input, also when the
// gradients of all trained parameters of the unit are computed.
TEST(FsdpPassesTest, FrozenParametersInAUnit) {
  const auto freeze = [](UnitChain& net) {
    net.weights[1].set_requires_grad(false);
    net.weights[2].set_requires_grad(false);
  };
  ExpectSameAsAlone(PlainChainLoss, {}, freeze);
  // A unit with a frozen and a trained parameter side by side.
  struct Adapted {
    at::Tensor first = ChainWave(1).requires_grad_();
    at::Tensor frozen = ChainWave(2);
    at::Tensor trained = ChainWave(3).requires_grad_();
    std::shared_ptr<ModelUnit> unit = std::make_shared<ModelUnit>();
    at::Tensor Train(Backend& backend) {
      backend.Prepare(
          {{"net",
            {{"first", first}, {"frozen", frozen}, {"trained", trained}},
            {},
            {{"adapted", unit, {frozen, trained}}}}});
      SGD optimizer({first, trained}, {.lr = 0.1});
      at::Tensor loss;
      backend.Forward([&] {
        loss = unit->Run(ChainInput().mm(first).tanh(),
                         [&](const at::Tensor& x) {
                           // The last node of the graph is the first of
                           // backward.
                           return x.mm(frozen).add(x.mm(trained));
                         })
                   .square()
                   .sum();
      });
      backend.Backward(loss, {});
      backend.FinishGradients(optimizer);
      backend.Update(optimizer, {});
      const WholeParameters whole(backend);
      return first.detach().clone();
    }
  };
  const at::Tensor expected = Adapted().Train(*Alone());
  EXPECT_LT(Difference({Adapted().Train(*Fsdp())}, {expected}), 1e-6);
}

TEST(FsdpPassesTest, CheckpointedActivations) {
  // Units in a block that is run again, and a unit with such a block.
  ExpectSameAsAlone([](UnitChain& net, const at::Tensor& input) {
    at::Tensor x = net.Layer(0, input);
    x = CheckpointActivations(
        [&net](const at::Tensor& y) { return net.Layer(2, net.Layer(1, y)); },
        x);
    x = net.units[3]->Run(x, [&](const at::Tensor& y) {
      return CheckpointActivations(
          [&net](const at::Tensor& z) { return z.mm(net.weights[3]).tanh(); },
          y);
    });
    return net.Layer(4, x).mul(net.scale).square().sum();
  });
}

// Several losses over one forward pass, and an update within one.
TEST(FsdpPassesTest, PassesWithinAForwardPass) {
  const auto train = [](Backend& backend) {
    UnitChain net;
    SGD optimizer(net.Parameters(), {.lr = 0.05});
    backend.Prepare({net.Model()});
    for (int step = 0; step < 3; ++step) {
      backend.Forward([&] {
        const at::Tensor first = net.Layer(0, ChainInput());
        backend.Backward(first.mul(net.scale).square().sum(), {});
        backend.FinishGradients(optimizer);
        backend.Update(optimizer, {});
        optimizer.ZeroGrad();
        // With the new values.
        const at::Tensor x = net.Layer(0, ChainInput());
        const at::Tensor y = x.mul(net.scale);
        backend.Backward(y.sum(), {.sync = false});
        backend.Backward(net.Layer(1, net.Layer(0, ChainInput())).sum(), {});
        backend.FinishGradients(optimizer);
        backend.Update(optimizer, {});
        optimizer.ZeroGrad();
      });
      backend.EndWindow();
    }
    return ChainValues(backend, net);
  };
  EXPECT_LT(Difference(train(*Fsdp()), train(*Alone())), 1e-6);
}

// Rank 0 trains, the others have no batch: with forward passes before, and in
// the middle of a window.
TEST(FsdpPassesTest, ARankWithoutABatchTakesPart) {
  const auto train = [](Backend& backend, bool all_ranks) {
    UnitChain net;
    SGD optimizer(net.Parameters(), {.lr = 0.05});
    backend.Prepare({net.Model()});
    for (int step = 0; step < 6; ++step) {
      for (const bool last : {false, true}) {
        const BackwardOptions options{.sync = last};
        if (step == 0 || all_ranks || TestRank() == 0) {
          at::Tensor loss;
          backend.Forward([&] { loss = net.Loss(ChainInput()); });
          backend.Backward(loss, options);
        } else {
          backend.BackwardWithoutBatch(options);
        }
      }
      const double mean = backend.FinishGradients(optimizer);
      EXPECT_EQ(mean, 1);
      // The sum of the ranks, where one has a batch.
      const double ranks = step == 0 || all_ranks ? 1 : 1.0 / TestWorldSize();
      backend.Update(optimizer, {.divisor = ranks});
      optimizer.ZeroGrad();
      backend.EndWindow();
      EXPECT_EQ(net.Whole(), all_ranks ? UnitChain::kLayers : 0);
    }
    return ChainValues(backend, net);
  };
  EXPECT_LT(Difference(train(*Fsdp(), false), train(*Alone(), true)), 1e-6);
}

TEST(FsdpPassesTest, ARankMustHaveABatchFirst) {
  UnitChain chain;
  const auto backend = Fsdp();
  backend->Prepare({chain.Model()});
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] { backend->BackwardWithoutBatch({}); }),
      HasSubstr("give every rank a batch in the first step"));
}

// A graph that was recorded before an update is out of date.
TEST(FsdpPassesTest, AnUpdateInvalidatesGraphs) {
  UnitChain chain;
  const auto backend = Fsdp();
  SGD optimizer(chain.Parameters(), {.lr = 0.1});
  backend->Prepare({chain.Model()});
  at::Tensor early;
  backend->Forward([&] { early = chain.Loss(ChainInput()); });
  StepChain(*backend, chain, optimizer);
  EXPECT_THAT(ErrorOf<c10::Error>([&] { backend->Backward(early, {}); }),
              HasSubstr("modified by an inplace operation"));
}

}  // namespace
}  // namespace trainyard

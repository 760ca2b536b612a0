// The examples of headers whose calls need several ranks, which are threads
// here. Ends when all ranks have made the same calls.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backends/collectives.h"
#include "backends/ddp.h"
#include "backends/gather_text.h"
#include "backends/largest_weight.h"
#include "backends/model_reducer.h"
#include "backends/processes/group_collectives.h"
#include "backends/processes/process_group.h"
#include "backends/processes/run_ranks.h"
#include "backends/same_models.h"
#include "backends/shared_reducer.h"
#include "backends/single_process.h"
#include "backends/sync_batch_normalize.h"
#include "backends/uneven_inputs.h"
#include "backends/weight_sum.h"
#include "backends/while_others_wait.h"
#include "trainer/optim/sgd.h"

namespace trainyard {
namespace {

// Two ranks, each with a group and its collectives.
template <class Function>
void WithTwoRanks(const Function& function) {
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    ProcessGroup group({.rendezvous = rendezvous});
    const auto collectives = MakeGroupCollectives(group);
    function(group, *collectives);
  });
}

// Rank 0: 1, rank 1: 2; their mean is 1.5.
double Own(const Collectives& collectives) {
  return static_cast<double>(collectives.rank() + 1);
}

TEST(HeaderExamplesTest, Collectives) {
  WithTwoRanks([](ProcessGroup&, Collectives& collectives) {
    const double own_hits = Own(collectives);
    at::Tensor hits = at::full({}, own_hits);
    collectives.AllReduce(hits, ReduceOp::kSum);
    EXPECT_EQ(hits.item<double>(), 3);
  });
}

TEST(HeaderExamplesTest, SharedReducer) {
  WithTwoRanks([](ProcessGroup& group, Collectives& collectives) {
    const at::Tensor w = at::ones({2}).requires_grad_();
    const std::vector<at::Tensor> parameters = {w};
    const std::vector<std::string> names = {"w"};
    const auto reducer = MakeSharedReducer(group, parameters, names, 4 << 20);
    ASSERT_NE(reducer, nullptr);
    const at::Tensor loss = w.mul(Own(collectives)).sum();
    reducer->BeforeBackward();
    loss.backward();
    reducer->AfterBackward();  // every gradient is the mean over the ranks
    EXPECT_TRUE(at::equal(w.grad(), at::full({2}, 1.5F)));
  });
}

TEST(HeaderExamplesTest, GatherText) {
  WithTwoRanks([](ProcessGroup&, Collectives& collectives) {
    const std::string name = "rank" + std::to_string(collectives.rank());
    const std::vector<std::string> names = GatherText(collectives, name);
    EXPECT_EQ(names, (std::vector<std::string>{"rank0", "rank1"}));
  });
}

TEST(HeaderExamplesTest, Ddp) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    const at::Tensor w = at::ones({2}).requires_grad_();
    const std::vector<ModelTensors> models = {{"net", {{"w", w}}}};
    auto group = std::make_shared<ProcessGroup>(
        ProcessGroupOptions{.rendezvous = rendezvous});
    auto backend = MakeDdpBackend(group, MakeSingleProcessBackend(at::kCPU));
    backend->Prepare(models);
    backend->Backward(w.sum().mul(Own(backend->collectives())), {});
    EXPECT_TRUE(at::equal(w.grad(), at::full({2}, 1.5F)));
  });
}

TEST(HeaderExamplesTest, ModelReducer) {
  WithTwoRanks([](ProcessGroup& group, Collectives& collectives) {
    const at::Tensor w = at::ones({2}).requires_grad_();
    const ModelTensors model = {"net", {{"w", w}}};
    const at::Tensor loss = w.sum().mul(Own(collectives));
    ModelReducer reducer(group, model, {});
    reducer.BeforeBackward(loss);
    loss.backward();
    reducer.AfterBackward();
    EXPECT_TRUE(at::equal(w.grad(), at::full({2}, 1.5F)));
  });
}

TEST(HeaderExamplesTest, SameModels) {
  WithTwoRanks([](ProcessGroup& group, Collectives& collectives) {
    const at::Tensor weight = at::full({2}, Own(collectives));
    const at::Tensor bias = at::full({1}, Own(collectives));
    const std::vector<ModelTensors> models = {
        {"net", {{"weight", weight}, {"bias", bias}}}};
    CheckSameModels(collectives, models);
    CopyTensors(group, {weight, bias});
    EXPECT_TRUE(at::equal(weight, at::full({2}, 1.0)));
    EXPECT_TRUE(at::equal(bias, at::full({1}, 1.0)));
  });
}

TEST(HeaderExamplesTest, SyncBatchNormalize) {
  WithTwoRanks([](ProcessGroup&, Collectives& collectives) {
    const at::Tensor w = at::full({1}, 2.0F);
    const at::Tensor b = at::full({1}, 5.0F);
    // Of both ranks: 1 and 2, with the mean 1.5 and the deviation 0.5.
    const at::Tensor x = at::full({1, 1}, static_cast<float>(Own(collectives)));
    const at::Tensor y =
        SyncBatchNormalize(x, {.weight = w, .bias = b}, collectives);
    EXPECT_NEAR(y.item<float>(), collectives.rank() == 0 ? 3 : 7, 1e-3);
  });
}

// Rank 0 has one batch and rank 1 two. Each batch weighs the same.
TEST(HeaderExamplesTest, UnevenInputs) {
  RunRanks(2, [](const Rendezvous& rendezvous) {
    const auto owner =
        MakeDdpBackend(std::make_shared<ProcessGroup>(
                           ProcessGroupOptions{.rendezvous = rendezvous}),
                       MakeSingleProcessBackend(at::kCPU));
    Backend& backend = *owner;
    Collectives& collectives = backend.collectives();
    const at::Tensor w = at::ones({1}).requires_grad_();
    SGD optimizer({w}, {.lr = 1});
    backend.Prepare({{"net", {{"w", w}}}});
    const auto Loss = [&](int64_t batch) {
      return w.sum().mul(static_cast<double>(10 * backend.rank() + batch + 1));
    };
    std::vector<double> gradients;

    const int64_t batches = backend.rank() + 1;
    const EpochPlan plan = PlanEpoch(collectives, batches, UnevenInputs::kJoin);
    for (int64_t step = 0; step < plan.steps; ++step) {
      if (const auto batch = plan.Batch(step)) {
        backend.Backward(Loss(*batch), {.weight = 1});
      } else {
        backend.BackwardWithoutBatch({.weight = 0});
      }
      const double weight = backend.FinishGradients(optimizer);
      gradients.push_back(w.grad().item<double>() / weight);
      optimizer.ZeroGrad();
      backend.EndWindow();
    }
    // The means of 1 and 11, and of 12 alone.
    EXPECT_EQ(gradients, (std::vector<double>{6, 12}));
  });
}

TEST(HeaderExamplesTest, LargestWeight) {
  WithTwoRanks([](ProcessGroup&, Collectives& collectives) {
    const double weight = collectives.rank() == 0 ? 96 : 64;
    LargestWeight largest;
    EXPECT_EQ(largest.Of(0, collectives), 0);
    const double reference = largest.Of(weight, collectives);
    EXPECT_EQ(reference, 96);
    State state;
    largest.Save(state);
    LargestWeight loaded;
    loaded.Load(state);
    EXPECT_EQ(loaded.Of(128, collectives), 96);
  });
}

TEST(HeaderExamplesTest, WeightSum) {
  WithTwoRanks([](ProcessGroup& group, Collectives& collectives) {
    const at::Tensor w = at::ones({2}).requires_grad_();
    const at::Tensor loss = w.sum();
    WeightSum weights(group);
    EXPECT_EQ(weights.Mean(), 1);
    if (collectives.rank() == 0) {
      weights.Start(96);
      loss.backward();
      const double mean = weights.Mean();
      EXPECT_EQ(mean, 80);
    } else {
      weights.Start(64);
      EXPECT_EQ(weights.Mean(), 80);
    }
  });
}

TEST(HeaderExamplesTest, WhileOthersWait) {
  std::atomic<int> prepared = 0;
  WithTwoRanks([&](ProcessGroup&, Collectives& collectives) {
    const auto Prepare = [&] { ++prepared; };
    WhileOthersWait(collectives, collectives.rank() == 0, [&] { Prepare(); });
    EXPECT_EQ(prepared, 1);
  });
}

}  // namespace
}  // namespace trainyard

// A loss that is NaN on one process of several: all of them drop the update.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// One for all tests: its process group is the process's own.
Backend& Ddp() {
  static const std::unique_ptr<Backend> backend =
      MakeBackend("ddp", {.device = at::Device(TestDevice())});
  return *backend;
}

// The last rank's loss is NaN in some batches, counted from 1.
class LineTask final : public TaskOf<Example> {
 public:
  explicit LineTask(std::set<int64_t> bad)
      : line_((at::manual_seed(1), TestLinear(3, 1))), bad_(std::move(bad)) {
    AddModel("line", line_.ptr());
    AddOptimizer("adamw", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    at::Tensor loss = at::mse_loss(line_->forward(batch.input), batch.target);
    if (bad_.contains(++batches_) && TestRank() + 1 == TestWorldSize()) {
      loss = loss.mul(std::numeric_limits<double>::quiet_NaN());
    }
    return {.loss = loss};
  }
  StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
  at::Tensor weight() const { return line_["weight"].detach().clone(); }

 private:
  TestLinear line_;
  AdamW optimizer_{*line_, {.lr = 0.1}};
  std::set<int64_t> bad_;
  int64_t batches_ = 0;
};

struct Outcome {
  RunResult result;
  at::Tensor weight;
  std::vector<double> losses;
};

// Five batches in an epoch.
Outcome Train(std::set<int64_t> bad, TrainOptions options = {},
              bool terminate_on_nan = false) {
  auto task = std::make_unique<LineTask>(std::move(bad));
  const LineTask& line = *task;
  Trainer trainer(std::move(task), Ddp(), {.default_callbacks = false});
  if (terminate_on_nan) trainer.Add(TerminateOnNaN());
  options.data = LinePoints(int64_t{20} * TestWorldSize());
  options.length = Epochs(2);
  options.per_device_batch_size = 4;
  Outcome outcome{.result = trainer.Train(options)};
  outcome.weight = line.weight();
  outcome.losses = trainer.history().Values("train_loss");
  at::Tensor main = outcome.weight.clone();
  Ddp().collectives().Broadcast(main);
  EXPECT_TRUE(at::equal(main, outcome.weight)) << "ranks ended differently";
  return outcome;
}

TEST(NonFiniteDdpTest, AllRanksStopWithTheWeightsBeforeIt) {
  const Outcome good = Train({}, {.at_most = Updates(3)});
  for (const bool terminate_on_nan : {false, true}) {
    // Only the callback reads a loss on an accelerator.
    if (!terminate_on_nan && !Ddp().device().is_cpu()) continue;
    const Outcome bad = Train({4}, {}, terminate_on_nan);
    EXPECT_EQ(bad.result.ending, RunEnding::kStopped);
    EXPECT_EQ(bad.result.message.substr(0, 31),
              "loss is nan in epoch 1, batch 4");
    EXPECT_EQ(bad.result.clock.updates(), 3);
    EXPECT_TRUE(at::equal(bad.weight, good.weight));
  }
}

TEST(NonFiniteDdpTest, AllRanksDropTheUpdateAndGoOn) {
  if (!Ddp().device().is_cpu()) GTEST_SKIP() << "the loop reads no loss there";
  // The first batch: a rank that has counted nothing knows the metrics' names.
  const Outcome outcome = Train({1, 7}, {.max_dropped_updates = 1});
  EXPECT_EQ(outcome.result.ending, RunEnding::kFinished);
  EXPECT_EQ(outcome.result.clock.updates(), 8);
  for (const double loss : outcome.losses) EXPECT_TRUE(std::isfinite(loss));
}

TEST(NonFiniteDdpTest, ABatchWithinAWindowDropsTheWindowOfAllRanks) {
  if (!Ddp().device().is_cpu()) GTEST_SKIP() << "the loop reads no loss there";
  TrainOptions options{.grad_accum_steps = 2, .max_dropped_updates = 1};
  const Outcome within = Train({3}, options);
  const Outcome last = Train({4}, options);
  EXPECT_EQ(within.result.clock.updates(), 5);
  EXPECT_TRUE(at::equal(within.weight, last.weight));
}

}  // namespace
}  // namespace trainyard

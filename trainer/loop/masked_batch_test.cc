// A batch whose records are all masked says so with a weight of 0: its loss, a
// mean over nothing, is NaN, and must reach neither gradients nor means.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback_handler.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/loop/step_runner.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// Records with a negative target do not count.
class MaskedTask final : public TaskOf<Example> {
 public:
  explicit MaskedTask(double lr = 0.1)
      : optimizer_(*line_, {.lr = lr, .weight_decay = 0.5}) {
    AddModel("line", line_.ptr());
    AddOptimizer("line", optimizer_);
  }

  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor counted = batch.target.ge(0).to(at::kFloat);
    const at::Tensor error =
        line_->forward(batch.input).sub(batch.target).pow(2);
    return {.loss = error.mul(counted).sum().div(counted.sum()),
            .weight = counted.sum().item<double>()};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }
  at::Tensor weight() const { return line_["weight"].detach().clone(); }
  Optimizer& optimizer() { return optimizer_; }

 private:
  TestLinear line_{(at::manual_seed(1), 3), 1};
  AdamW optimizer_;
};

Example Batch(uint64_t seed, double target) {
  at::manual_seed(seed);
  return {at::rand({2, 3}), at::full({2, 1}, target)};
}

// Trains on these batches, `accum` to a window.
class Steps {
 public:
  Steps(const std::vector<Example>& batches, int64_t accum) {
    CallbackHandler callbacks(control_);
    clock_ = RunClock({.grad_accum_steps = accum});
    StepRunner runner(
        {task_, {&task_.optimizer()}, *backend_, callbacks, clock_}, Clip{});
    auto left = static_cast<int64_t>(batches.size());
    for (const Example& batch : batches) runner.Run(AnyBatch(batch), left--);
  }
  at::Tensor weight() const { return task_.weight(); }
  int64_t updates() const { return clock_.updates(); }

 private:
  MaskedTask task_;
  std::unique_ptr<Backend> backend_ = MakeBackend("sp");
  Control control_;
  RunClock clock_;
};

TEST(MaskedBatchTest, AddsNothingToTheGradientOfItsWindow) {
  const Example a = Batch(1, 1), b = Batch(2, 2), masked = Batch(3, -1);
  const Steps without({a, b}, 1);
  const Steps first_in_window({masked, a, masked, b}, 2);
  const Steps last_in_window({a, masked, b, masked}, 2);
  EXPECT_EQ(without.updates(), 2);
  EXPECT_EQ(first_in_window.updates(), 2);
  // Divided by the weight of the window: rounded in another place.
  EXPECT_TRUE(at::allclose(first_in_window.weight(), without.weight(), 1e-6));
  EXPECT_TRUE(at::allclose(last_in_window.weight(), without.weight(), 1e-6));
}

TEST(MaskedBatchTest, AWindowOfNothingElseIsNoUpdate) {
  const Example a = Batch(1, 1), b = Batch(2, 2), masked = Batch(3, -1);
  const Steps without({a, b}, 1);
  const Steps between({masked, a, masked, masked, b}, 1);
  EXPECT_EQ(between.updates(), 2);
  EXPECT_TRUE(at::equal(between.weight(), without.weight()));
}

// Four samples, two to a batch; the last two are masked.
TEST(MaskedBatchTest, IsNotInTheMeans) {
  const Example counted = Batch(1, 2);
  const DatasetPtr data = MakeTensorDataset(
      Example{at::cat({counted.input, at::rand({2, 3})}),
              at::cat({counted.target, at::full({2, 1}, -1.0)})});
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<MaskedTask>(), *backend,
                  {.default_callbacks = false});
  const double loss =
      trainer.Evaluate(MakeTensorDataset(counted), 2).at("evaluation_loss");
  EXPECT_EQ(trainer.Evaluate(data, 2).at("evaluation_loss"), loss);
  trainer.Train(
      {.data = data, .length = Epochs(3), .per_device_batch_size = 1});
  for (const double mean : trainer.history().Values("train_loss")) {
    EXPECT_TRUE(std::isfinite(mean)) << mean;
  }
  EXPECT_EQ(trainer.history().Values("train_loss").size(), 3);
}

TEST(MaskedBatchTest, ANegativeWeightIsRejected) {
  class NegativeTask final : public TaskOf<Example> {
   public:
    StepOutput TrainStep(const Example& batch, StepContext&) override {
      return {.loss = batch.input.clone().requires_grad_().mean(),
              .weight = -1};
    }
    StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
  };
  NegativeTask task;
  const auto backend = MakeBackend("sp");
  Control control;
  CallbackHandler callbacks(control);
  RunClock clock;
  StepRunner runner({task, {}, *backend, callbacks, clock}, Clip{});
  EXPECT_THROW(runner.Run(AnyBatch(Batch(1, 1)), 1), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

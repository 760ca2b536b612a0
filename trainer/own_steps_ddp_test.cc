// A task that drives backward and update itself, over several processes: two
// models that are trained in turn end as on one process.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/mse_loss.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/make_backend.h"
#include "backends/single_process.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/optim/sgd.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

class InTurn final : public TaskOf<Example> {
 public:
  InTurn() {
    AddModel("a", a.ptr());
    AddModel("b", b.ptr());
    AddOptimizer("first", first_);
    AddOptimizer("second", second_);
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const at::Tensor first =
        at::mse_loss(a->forward(batch.input), batch.target);
    step.Backward(first);
    step.Update(first_, ClipNorm(1));
    // What the first has become; the loss trains the second alone.
    const at::Tensor made = a->forward(batch.input).detach();
    const at::Tensor second =
        at::mse_loss(b->forward(batch.input).add(made), batch.target);
    step.Backward(second);
    step.Update(second_);
    return {.loss = second};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(a->forward(batch.input), batch.target)};
  }

  TestLinear a{(at::manual_seed(1), 3), 1}, b{3, 1};

 private:
  SGD first_{*a, {.lr = 0.05, .momentum = 0.9}};
  SGD second_{*b, {.lr = 0.02, .momentum = 0.9}};
};

struct Outcome {
  RunResult result;
  RunConfig config;
  at::Tensor a, b;
};

// Global batches of 8, in windows of two.
Outcome Train(Backend& backend) {
  auto task = std::make_unique<InTurn>();
  InTurn& models = *task;
  Trainer trainer(std::move(task), backend);
  RunConfig config;
  trainer.Add(
      On<RunStart>([&](const RunStart& e, Control&) { config = e.config; }));
  const RunResult result =
      trainer.Train({.data = LinePoints(27),
                     .eval_data = LinePoints(8),
                     .length = Epochs(3),
                     .per_device_batch_size = 8 / backend.num_processes(),
                     .grad_accum_steps = 2,
                     .seed = 3});
  return {result, config, models.a["weight"].detach().clone(),
          models.b["weight"].detach().clone()};
}

TEST(OwnStepsDdpTest, IsTheRunOfOneProcess) {
  const at::Device device(TestDevice());
  const auto one = MakeSingleProcessBackend(device);
  const auto all = MakeBackend("ddp", {.device = device});
  const Outcome expected = Train(*one);
  const Outcome actual = Train(*all);
  EXPECT_EQ(actual.result.clock.updates(), 6);
  EXPECT_EQ(expected.result.clock.updates(), 6);
  EXPECT_TRUE(at::allclose(actual.a, expected.a, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(actual.b, expected.b, 1e-5, 1e-6));
  // Batches of all processes and windows together.
  EXPECT_EQ(actual.config.total_batch_size, 16);
  EXPECT_EQ(actual.config.eval_total_batch_size, 8);
  EXPECT_EQ(actual.config.num_processes, all->num_processes());
}

}  // namespace
}  // namespace trainyard

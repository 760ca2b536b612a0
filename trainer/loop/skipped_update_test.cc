// An update that a gradient scaler skips did not happen: no schedule moves, no
// average, no counter.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/scalar_tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/weights/model_ema.h"
#include "schedulers/linear.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Its value is how often it was stepped.
ScheduleFactory Counting() {
  struct Count final : Schedule {
    double ValueAt(int64_t count, double) const override {
      return static_cast<double>(count);
    }
  };
  return [](const RunLength&) { return std::make_unique<Count>(); };
}

// The gradients of the batches `first` to `last` of the run, counted from 1,
// overflow; their losses do not.
class OverflowingLine final : public TaskOf<Example> {
 public:
  OverflowingLine(int64_t first, int64_t last) : first_(first), last_(last) {
    AddModel("line", line.ptr());
    AddOptimizer("adamw", optimizer);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    const at::Tensor loss = Loss(batch);
    ++batches_;
    if (batches_ < first_ || batches_ > last_) return {.loss = loss};
    return {.loss = loss.add(loss.sub(loss.detach()).mul(1e37))};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = Loss(batch)};
  }

  TestLinear line{3, 1};
  AdamW optimizer{*line, {.lr = 0.1}};

 private:
  at::Tensor Loss(const Example& batch) const {
    return at::mse_loss(line->forward(batch.input).to(at::kFloat),
                        batch.target);
  }
  int64_t first_, last_, batches_ = 0;
};

TEST(SkippedUpdateTest, MovesNoScheduleAndNoCounter) {
  auto task = std::make_unique<OverflowingLine>(2, 3);
  OverflowingLine& line = *task;
  const auto backend = MakeBackend(
      "sp-amp", {.amp = {.dtype = at::kHalf, .scaler = {.init_scale = 16}}});
  Trainer trainer(std::move(task), *backend);
  ModelEma ema(*line.line, {.decay = {.decay = 0.5}});
  trainer.Add(ema);
  std::vector<bool> updated;
  std::vector<double> by_update, by_batch;
  std::vector<int64_t> updates;
  trainer.Add(On<UpdateEnd>(
      [&](const UpdateEnd& e, Control&) { updated.push_back(e.updated); }));
  trainer.Add(On<StepEnd>([&](const StepEnd& e, Control&) {
    by_update.push_back(line.optimizer.Field(0, "weight_decay"));
    by_batch.push_back(line.optimizer.Field(0, "eps"));
    updates.push_back(e.clock.updates());
  }));
  const RunResult result = trainer.Train(
      {.data = LinePoints(20),
       .length = Epochs(1),
       .per_device_batch_size = 4,
       .schedules = {{.field = "weight_decay", .schedule = Counting()},
                     {.field = "eps",
                      .schedule = Counting(),
                      .step_on = StepOn::kBatch}}});
  EXPECT_THAT(updated, ElementsAre(true, false, false, true, true));
  // On an accelerator a step ends before its update is known.
  const bool late = !backend->device().is_cpu();
  EXPECT_EQ(by_update, late ? std::vector<double>({0, 1, 1, 1, 2})
                            : std::vector<double>({1, 1, 1, 2, 3}));
  EXPECT_THAT(by_batch, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(updates, late ? std::vector<int64_t>({0, 1, 1, 1, 2})
                          : std::vector<int64_t>({1, 1, 1, 2, 3}));
  EXPECT_EQ(result.clock.updates(), 3);
  EXPECT_EQ(ema.ema().updates(), 3);
}

// Weights and averages of a run in which updates are skipped.
std::vector<at::Tensor> Trained(at::Device device) {
  at::manual_seed(1);
  auto task = std::make_unique<OverflowingLine>(2, 3);
  OverflowingLine& line = *task;
  const auto backend = MakeBackend(
      "sp-amp", {.device = device,
                 .amp = {.dtype = at::kHalf,
                         .scaler = {.init_scale = 16, .growth_interval = 2}}});
  Trainer trainer(std::move(task), *backend, {.default_callbacks = false});
  ModelEma ema(*line.line, {.decay = {.decay = 0.5}});
  trainer.Add(ema);
  trainer.Train({.data = LinePoints(40),
                 .eval_data = LinePoints(4),
                 .length = Epochs(2),
                 .per_device_batch_size = 4,
                 .clip = ClipNorm(1),
                 .schedules = {{.schedule = Linear({.end_ratio = 0.1})}},
                 .evaluate = Every(Updates(3)),
                 .seed = 2});
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& item : trainer.task().NamedTensors()) {
    tensors.push_back(item.tensor.cpu());
  }
  for (const NamedTensor& item : ema.ema().NamedTensors()) {
    tensors.push_back(item.tensor.cpu());
  }
  for (const char* metric : {"eval_loss", "ema_eval_loss"}) {
    for (const double loss : trainer.history().Values(metric)) {
      tensors.push_back(at::scalar_tensor(loss, at::kDouble));
    }
  }
  return tensors;
}

// The device decides, and the host counts an update a window later: the same
// rates, averages and evaluations as where the host decides at once.
TEST(SkippedUpdateTest, IsTheSameRunWhereTheDeviceDecides) {
  const std::vector<at::Tensor> expected = Trained(at::kCPU);
  const std::vector<at::Tensor> actual = Trained(at::Device(TestDevice()));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(at::allclose(actual[i], expected[i], 1e-4, 1e-5)) << i;
  }
}

// A task with two optimizers, which it updates itself.
class TwiceUpdated final : public TaskOf<Example> {
 public:
  TwiceUpdated() {
    AddModel("a", a_.ptr());
    AddModel("b", b_.ptr());
    AddOptimizer("first", first_);
    AddOptimizer("second", second_);
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const auto loss = [&](const TestLinear& model) {
      return at::mse_loss(model->forward(batch.input).to(at::kFloat),
                          batch.target);
    };
    step.Backward(loss(a_));
    step.Update(first_);
    step.Backward(loss(b_));
    step.Update(second_);
    return {};
  }
  StepOutput EvalStep(const Example&, StepContext&) override { return {}; }

 private:
  TestLinear a_{3, 1}, b_{3, 1};
  AdamW first_{*a_}, second_{*b_};
};

TEST(SkippedUpdateTest, TwoUpdatesOfAStepCountOnce) {
  const auto backend = MakeBackend(
      "sp-amp", {.amp = {.dtype = at::kHalf, .scaler = {.init_scale = 16}}});
  Trainer trainer(std::make_unique<TwiceUpdated>(), *backend,
                  {.default_callbacks = false});
  int updates = 0;
  trainer.Add(On<UpdateEnd>([&](const UpdateEnd&, Control&) { ++updates; }));
  const RunResult result = trainer.Train({.data = LinePoints(20),
                                          .length = Epochs(2),
                                          .per_device_batch_size = 4});
  EXPECT_EQ(result.clock.updates(), 10);
  EXPECT_EQ(updates, 20);
}

}  // namespace
}  // namespace trainyard

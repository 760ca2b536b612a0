#include "callbacks/step_wrapper.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

using Log = std::vector<std::string>;

// As the header's.
class TimedBackward final : public Callback, public StepWrapper {
 public:
  void WrapBackward(const StepOutput&, StepContext&, Next next) override {
    const double start = SteadySeconds();
    next();
    seconds_ += SteadySeconds() - start;
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

// Notes when each step begins and ends.
class Noting final : public Callback, public StepWrapper {
 public:
  Noting(Log& log, std::string name, int priority = 0)
      : log_(log), name_(std::move(name)), priority_(priority) {}
  int priority() const override { return priority_; }
  void WrapBackward(const StepOutput&, StepContext&, Next next) override {
    Note("backward", next);
  }
  void WrapOptimizerStep(Optimizer&, const Clip&, StepContext&,
                         Next next) override {
    Note("optimizer", next);
  }
  void WrapScheduleStep(Optimizer&, StepContext&, Next next) override {
    Note("schedule", next);
  }
  void WrapZeroGrad(Optimizer&, Next next) override { Note("zero", next); }

 private:
  void Note(const std::string& step, Next next) {
    log_.push_back(name_ + " " + step);
    next();
    log_.push_back(name_ + " end");
  }
  Log& log_;
  std::string name_;
  int priority_;
};

// Notes its own steps.
class NotingTask final : public TaskOf<Example> {
 public:
  explicit NotingTask(Log& log) : log_(log) {
    AddModel("line", line_.ptr());
    AddOptimizer("line", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
  }
  StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
  void BackwardStep(const StepOutput& output, StepContext& step) override {
    log_.emplace_back("task backward");
    Task::BackwardStep(output, step);
  }
  void OptimizerStep(Optimizer& optimizer, const Clip& clip,
                     StepContext& step) override {
    log_.emplace_back("task optimizer");
    Task::OptimizerStep(optimizer, clip, step);
  }
  void ScheduleStep(Optimizer& optimizer, StepContext& step) override {
    log_.emplace_back("task schedule");
    Task::ScheduleStep(optimizer, step);
  }
  void ZeroGradStep(Optimizer& optimizer) override {
    log_.emplace_back("task zero");
    Task::ZeroGradStep(optimizer);
  }

 private:
  Log& log_;
  TestLinear line_{3, 1};
  AdamW optimizer_{*line_};
};

TEST(StepWrapperTest, HeaderExample) {
  LineRig rig;
  const TimedBackward& timed = rig.trainer().Add(TimedBackward());
  rig.trainer().Train({.data = LinePoints(4), .length = Epochs(1)});
  EXPECT_GT(timed.seconds(), 0);
}

TEST(StepWrapperTest, TheTaskIsInnermostAndTheLowestPriorityOutermost) {
  Log log;
  const auto backend = MakeBackend("sp");
  NotingTask task(log);
  Trainer trainer(task, *backend);
  trainer.Add(Noting(log, "b", 1), {.duplicates = Duplicates::kAllow});
  trainer.Add(Noting(log, "a", -1), {.duplicates = Duplicates::kAllow});
  trainer.Train(
      {.data = LinePoints(2), .length = Epochs(1), .per_device_batch_size = 2});
  EXPECT_THAT(log,
              ElementsAre("a backward", "b backward", "task backward", "b end",
                          "a end",  //
                          "a optimizer", "b optimizer", "task optimizer",
                          "a schedule", "b schedule", "task schedule", "b end",
                          "a end",  //
                          "a zero", "b zero", "task zero", "b end", "a end",
                          "b end", "a end"));
}

// Does the update by hand: plain gradient descent.
class Descent final : public Callback, public StepWrapper {
 public:
  void WrapOptimizerStep(Optimizer& optimizer, const Clip&, StepContext&,
                         Next) override {
    for (const auto& group : optimizer.param_groups()) {
      for (const at::Tensor& parameter : group.params()) {
        parameter.detach().sub_(parameter.grad(), 0.125);
      }
    }
    optimizer.ZeroGrad();
  }
};

TEST(StepWrapperTest, AStepCanBeReplaced) {
  LineRig rig, by_hand;
  const TrainOptions options{
      .data = LinePoints(4), .length = Epochs(1), .per_device_batch_size = 4};
  rig.trainer().Add(Descent());
  EXPECT_EQ(rig.trainer().Train(options).clock.updates(), 0);
  at::Tensor gradient;
  const at::Tensor before = by_hand.weight();
  by_hand.trainer().Add(
      On<GradientsReady>([&](const GradientsReady&, Control&) {
        for (const at::Tensor& each : by_hand.optimizer().Gradients()) {
          if (each.sizes() == before.sizes()) gradient = each.clone();
        }
      }));
  by_hand.trainer().Train(options);
  EXPECT_TRUE(at::equal(rig.weight(), before.sub(gradient, 0.125)));
}

}  // namespace
}  // namespace trainyard

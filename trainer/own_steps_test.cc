// A task that drives backward and update itself, in the order of its own: the
// loop leaves both to it, and still counts, clips, accumulates and saves.
#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "schedulers/schedule.h"
#include "trainer/optim/sgd.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

enum class Order {
  kAutomatic,   // one loss is returned, the loop does the rest
  kByHand,      // the same by the task
  kAlternating  // each model's backward and update before the next one's
};

// Two models. By kAlternating the second is shown what the first has become by
// its update, as a discriminator and a generator are.
class TwoModels : public TaskOf<Example> {
 public:
  explicit TwoModels(Order order) : order_(order) {
    AddModel("a", a.ptr());
    AddModel("b", b.ptr());
    AddOptimizer("first", first);
    AddOptimizer("second", second);
  }

  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    batches.push_back(batch);
    if (order_ == Order::kAlternating) {
      const at::Tensor first_loss = FirstLoss(batch);
      step.Backward(first_loss);
      updated.push_back(step.Update(first));
      const at::Tensor second_loss = SecondLoss(batch);
      step.Backward(second_loss);
      updated.push_back(step.Update(second));
      return {.loss = first_loss.detach().add(second_loss.detach())};
    }
    const at::Tensor loss = FirstLoss(batch).add(
        at::mse_loss(b->forward(batch.input), batch.target));
    if (order_ == Order::kByHand) {
      step.Backward(loss);
      updated.push_back(step.Update(second));
      updated.push_back(step.Update(first));
    }
    return {.loss = loss};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = FirstLoss(batch)};
  }

  at::Tensor FirstLoss(const Example& batch) const {
    return at::mse_loss(a->forward(batch.input), batch.target);
  }
  // Of the second model alone: what the first has become is only looked at.
  at::Tensor SecondLoss(const Example& batch) const {
    const at::Tensor made = a->forward(batch.input).detach();
    return at::mse_loss(b->forward(batch.input).add(made), batch.target);
  }

  TestLinear a{(at::manual_seed(1), 3), 1}, b{3, 1};
  SGD first{*a, {.lr = 0.05, .momentum = 0.9}};
  SGD second{*b, {.lr = 0.02, .momentum = 0.9}};
  std::vector<bool> updated;
  std::vector<Example> batches;

 private:
  Order order_;
};

struct Outcome {
  RunResult result;
  at::Tensor a, b;
  std::vector<bool> updated;
  std::vector<Example> batches;
};

Outcome Train(Order order, const TrainOptions& options,
              int64_t stop_after = 0) {
  auto task = std::make_unique<TwoModels>(order);
  TwoModels& models = *task;
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::move(task), *backend);
  int64_t steps = 0;
  trainer.Add(On<StepEnd>([&](const StepEnd&, Control& control) {
    if (++steps == stop_after) control.RequestStop("the test says so");
  }));
  const RunResult result = trainer.Train(options);
  return {result, models.a["weight"].detach(), models.b["weight"].detach(),
          models.updated, models.batches};
}

TrainOptions Options() {
  return {.data = LinePoints(24),
          .length = Epochs(2),
          .per_device_batch_size = 4,
          .seed = 3};
}

TEST(OwnStepsTest, AreWhatTheLoopDoes) {
  for (const int64_t window : {1, 3}) {
    TrainOptions options = Options();
    options.grad_accum_steps = window;
    const Outcome automatic = Train(Order::kAutomatic, options);
    const Outcome by_hand = Train(Order::kByHand, options);
    EXPECT_TRUE(at::equal(automatic.a, by_hand.a)) << window;
    EXPECT_TRUE(at::equal(automatic.b, by_hand.b)) << window;
    // Two optimizers that are updated in one step are one update of the run.
    EXPECT_EQ(by_hand.result.clock.updates(), 12 / window);
    EXPECT_EQ(by_hand.result.clock.batches(), 12);
    EXPECT_EQ(automatic.result.clock.samples(), by_hand.result.clock.samples());
    EXPECT_EQ(automatic.result.clock.updates(), by_hand.result.clock.updates());
  }
}

// As a loop of the user's own would train them on the same batches.
TEST(OwnStepsTest, MayAlternate) {
  const Outcome outcome = Train(Order::kAlternating, Options());
  ASSERT_EQ(outcome.batches.size(), 12);
  TwoModels models(Order::kAlternating);
  models.a->to(outcome.a.device());
  models.b->to(outcome.b.device());
  for (const Example& batch : outcome.batches) {
    models.FirstLoss(batch).backward();
    models.first.step();
    models.first.ZeroGrad();
    models.SecondLoss(batch).backward();
    models.second.step();
    models.second.ZeroGrad();
  }
  EXPECT_TRUE(at::equal(outcome.a, models.a["weight"]));
  EXPECT_TRUE(at::equal(outcome.b, models.b["weight"]));
  EXPECT_EQ(outcome.result.clock.updates(), 12);
}

// Update tells whether it did: only at the end of a window, which an epoch's
// last batch is, too.
TEST(OwnStepsTest, UpdateOnlyAtTheEndOfAWindow) {
  TrainOptions options = Options();
  options.data = LinePoints(20);
  options.length = Epochs(1);
  options.grad_accum_steps = 2;
  const Outcome outcome = Train(Order::kByHand, options);
  EXPECT_THAT(outcome.updated, ElementsAre(false, false, true, true,  //
                                           false, false, true, true,  //
                                           true, true));
  EXPECT_EQ(outcome.result.clock.updates(), 3);
}

// Several losses of one batch add up; a task that did it all need not return
// one.
TEST(OwnStepsTest, SeveralLossesAndNoneReturned) {
  class Silent final : public TwoModels {
   public:
    Silent() : TwoModels(Order::kAutomatic) {}
    StepOutput TrainStep(const Example& batch, StepContext& step) override {
      step.Backward(FirstLoss(batch));
      step.Backward(at::mse_loss(b->forward(batch.input), batch.target));
      return {};
    }
  };
  auto task = std::make_unique<Silent>();
  Silent& silent = *task;
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::move(task), *backend);
  const RunResult result = trainer.Train(Options());
  const Outcome one = Train(Order::kAutomatic, Options());
  EXPECT_EQ(result.clock.samples(), one.result.clock.samples());
  EXPECT_EQ(result.clock.updates(), one.result.clock.updates());
  EXPECT_TRUE(at::allclose(silent.a["weight"], one.a, 1e-6, 1e-7));
  EXPECT_TRUE(at::allclose(silent.b["weight"], one.b, 1e-6, 1e-7));
}

// A schedule follows the updates of its own optimizer.
TEST(OwnStepsTest, EachOptimizerHasItsOwnSchedule) {
  class EveryOther final : public TwoModels {
   public:
    EveryOther() : TwoModels(Order::kAutomatic) {}
    StepOutput TrainStep(const Example& batch, StepContext& step) override {
      const at::Tensor loss = FirstLoss(batch).add(SecondLoss(batch));
      step.Backward(loss);
      step.Update(first);
      if (step.clock().epoch_batches() % 2 == 0) step.Update(second);
      return {.loss = loss};
    }
  };
  struct Count final : Schedule {
    double ValueAt(int64_t count, double) const override {
      return 0.001 * static_cast<double>(count);
    }
  };
  const ScheduleFactory counting = [](const RunLength&) {
    return std::make_unique<Count>();
  };
  auto task = std::make_unique<EveryOther>();
  EveryOther& models = *task;
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::move(task), *backend);
  double first = 0, second = 0;
  trainer.Add(On<EpochEnd>([&](const EpochEnd&, Control&) {
    first = models.first.Field(0, "lr");
    second = models.second.Field(0, "lr");
  }));
  TrainOptions options = Options();
  options.schedules = {{"lr", counting, "first"}, {"lr", counting, "second"}};
  trainer.Train(options);
  EXPECT_DOUBLE_EQ(first, 0.012);
  EXPECT_DOUBLE_EQ(second, 0.006);
}

// Both optimizers are in the checkpoint.
TEST(OwnStepsTest, ResumeToTheBit) {
  const std::string folder = ::testing::TempDir() + "/own_steps";
  std::filesystem::remove_all(folder);
  const Outcome whole = Train(Order::kAlternating, Options());
  TrainOptions saving = Options();
  saving.checkpoint = {.directory = folder};
  saving.resume = Resume::kIfPresent;
  EXPECT_EQ(Train(Order::kAlternating, saving, /*stop_after=*/5).result.ending,
            RunEnding::kStopped);
  const Outcome resumed = Train(Order::kAlternating, saving);
  EXPECT_EQ(resumed.result.ending, RunEnding::kFinished);
  EXPECT_TRUE(at::equal(resumed.a, whole.a));
  EXPECT_TRUE(at::equal(resumed.b, whole.b));
}

// The trainer's own optimizer has this name; a trainer without one leaves it
// to the task.
TEST(OwnStepsTest, AnOptimizerMayBeCalledOptimizer) {
  class OneModel final : public TaskOf<Example> {
   public:
    OneModel() {
      AddModel("line", line_.ptr());
      AddOptimizer("optimizer", optimizer_);
    }
    StepOutput TrainStep(const Example& batch, StepContext&) override {
      return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
    }
    StepOutput EvalStep(const Example&, StepContext&) override { return {}; }

   private:
    TestLinear line_{3, 1};
    SGD optimizer_{*line_, {.lr = 0.05}};
  };
  OneModel task;
  const auto backend = MakeBackend("sp");
  Trainer trainer(task, *backend);
  EXPECT_EQ(trainer.Train(Options()).clock.updates(), 12);
  TestLinear other_line(3, 1);
  SGD other(*other_line, {.lr = 0.05});
  EXPECT_THROW(Trainer(task, other, *backend), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

// What a task may do its own way, and in which order the trainer asks it.
#include "trainer/task.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "schedulers/plateau.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/optim/adamw.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Log = std::vector<std::string>;

// A line as in LineRig; writes down every step it is asked to do, and every
// event.
class LoggingTask final : public TaskOf<Example>, public Callback {
 public:
  explicit LoggingTask(Log& log) : log_(log) {
    AddModel("line", line_.ptr());
    AddOptimizer("adamw", optimizer_);
  }

  StepOutput TrainStep(const Example& batch, StepContext&) override {
    log_.push_back("TrainStep");
    return {.loss = Loss(batch)};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    log_.push_back("EvalStep");
    return {.loss = Loss(batch)};
  }
  std::unique_ptr<BatchSource> TrainLoader(
      const LoaderRequest& request) override {
    log_.push_back("TrainLoader");
    return TaskOf::TrainLoader(request);
  }
  std::unique_ptr<BatchSource> EvalLoader(
      const LoaderRequest& request) override {
    log_.push_back("EvalLoader");
    return TaskOf::EvalLoader(request);
  }
  void BackwardStep(const StepOutput& output, StepContext& step) override {
    log_.push_back("BackwardStep");
    TaskOf::BackwardStep(output, step);
  }
  void OptimizerStep(Optimizer& optimizer, const Clip& clip,
                     StepContext& step) override {
    log_.push_back("OptimizerStep");
    TaskOf::OptimizerStep(optimizer, clip, step);
  }
  void ScheduleStep(Optimizer& optimizer, StepContext& step) override {
    log_.push_back("ScheduleStep");
    TaskOf::ScheduleStep(optimizer, step);
  }
  void ZeroGradStep(Optimizer& optimizer) override {
    log_.push_back("ZeroGradStep");
    TaskOf::ZeroGradStep(optimizer);
  }

  void OnRunStart(const RunStart&, Control&) override {
    log_.push_back("task:RunStart");
  }
  void OnEpochStart(const EpochStart&, Control&) override {
    log_.push_back("task:EpochStart");
  }
  void OnTrainEpochEnd(const TrainEpochEnd&, Control&) override {
    log_.push_back("task:TrainEpochEnd");
  }
  void OnEvalStart(const EvalStart&, Control&) override {
    log_.push_back("task:EvalStart");
  }
  void OnEvalEnd(const EvalEnd&, Control&) override {
    log_.push_back("task:EvalEnd");
  }
  void OnEpochEnd(const EpochEnd&, Control&) override {
    log_.push_back("task:EpochEnd");
  }
  void OnRunEnd(const RunEnd&, Control&) override {
    log_.push_back("task:RunEnd");
  }

 private:
  at::Tensor Loss(const Example& batch) {
    return at::mse_loss(line_->forward(batch.input), batch.target);
  }

  Log& log_;
  TestLinear line_{3, 1};
  AdamW optimizer_{*line_, {.lr = 0.1}};
};

// Hears the same events, and is added with the most eager priority there is
// for a user.
class LoggingCallback final : public Callback {
 public:
  explicit LoggingCallback(Log& log) : log_(log) {}
  int priority() const override { return -1000000; }

  void OnRunStart(const RunStart&, Control&) override {
    log_.push_back("RunStart");
  }
  void OnEpochStart(const EpochStart&, Control&) override {
    log_.push_back("EpochStart");
  }
  void OnLossEnd(const LossEnd&, Control&) override {
    log_.push_back("LossEnd");
  }
  void OnBackwardEnd(const BackwardEnd&, Control&) override {
    log_.push_back("BackwardEnd");
  }
  void OnUpdateEnd(const UpdateEnd&, Control&) override {
    log_.push_back("UpdateEnd");
  }
  void OnTrainEpochEnd(const TrainEpochEnd&, Control&) override {
    log_.push_back("TrainEpochEnd");
  }
  void OnEvalStart(const EvalStart&, Control&) override {
    log_.push_back("EvalStart");
  }
  void OnEvalStepEnd(const EvalStepEnd&, Control&) override {
    log_.push_back("EvalStepEnd");
  }
  void OnEvalEnd(const EvalEnd&, Control&) override {
    log_.push_back("EvalEnd");
  }
  void OnEpochEnd(const EpochEnd&, Control&) override {
    log_.push_back("EpochEnd");
  }
  void OnRunEnd(const RunEnd&, Control&) override { log_.push_back("RunEnd"); }

 private:
  Log& log_;
};

TEST(TaskTest, EveryMethodComesBeforeTheCallbacksOfItsEvent) {
  Log log;
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<LoggingTask>(log), *backend);
  trainer.Add(LoggingCallback(log));
  trainer.Train({.data = LinePoints(8),
                 .eval_data = LinePoints(4),
                 .length = Epochs(1),
                 .per_device_batch_size = 4,
                 .grad_accum_steps = 2});
  EXPECT_THAT(
      log, ElementsAre("TrainLoader", "EvalLoader", "task:RunStart", "RunStart",
                       "task:EpochStart", "EpochStart",  //
                       "TrainStep", "LossEnd", "BackwardStep", "BackwardEnd",
                       "OptimizerStep",  //
                       "TrainStep", "LossEnd", "BackwardStep", "BackwardEnd",
                       "OptimizerStep", "ScheduleStep", "UpdateEnd",
                       "ZeroGradStep",  //
                       "task:TrainEpochEnd", "TrainEpochEnd", "task:EvalStart",
                       "EvalStart", "EvalStep", "EvalStepEnd", "task:EvalEnd",
                       "EvalEnd", "task:EpochEnd", "EpochEnd", "task:RunEnd",
                       "RunEnd"));
}

// In every epoch the same loader starts again.
TEST(TaskTest, TheLoadersAreAskedForOncePerRun) {
  Log log;
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<LoggingTask>(log), *backend);
  const TrainOptions options{.data = LinePoints(8),
                             .eval_data = LinePoints(4),
                             .length = Epochs(3),
                             .per_device_batch_size = 4,
                             .evaluate = Every(Batches(1))};
  for (const int64_t runs : {1, 2}) {
    trainer.Train(options);
    EXPECT_EQ(std::count(log.begin(), log.end(), "TrainLoader"), runs);
    EXPECT_EQ(std::count(log.begin(), log.end(), "EvalLoader"), runs);
    EXPECT_EQ(std::count(log.begin(), log.end(), "TrainStep"), 6 * runs);
  }
}

// Two models, two optimizers; each has schedules of its own.
class TwoOptimizers : public TaskOf<Example> {
 public:
  TwoOptimizers() {
    AddModel("a", a_.ptr());
    AddModel("b", b_.ptr());
    AddOptimizer("first", first);
    AddOptimizer("second", second);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    return {.loss = at::mse_loss(
                a_->forward(batch.input).add(b_->forward(batch.input)),
                batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }

 private:
  TestLinear a_{3, 1}, b_{3, 1};

 public:
  AdamW first{*a_, {.lr = 8}}, second{*b_, {.lr = 8}};
};

ScheduleFactory Counting() {
  struct Count final : Schedule {
    double ValueAt(int64_t count, double) const override {
      return static_cast<double>(count);
    }
  };
  return [](const RunLength&) { return std::make_unique<Count>(); };
}

TEST(TaskTest, AllOptimizersAreUpdatedAndFollowTheirSchedules) {
  auto task = std::make_unique<TwoOptimizers>();
  AdamW &first = task->first, &second = task->second;
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::move(task), *backend);
  std::vector<double> seen;
  trainer.Add(On<EpochEnd>([&](const EpochEnd&, Control&) {
    seen = {first.Field(0, "lr"), second.Field(0, "lr"),
            second.Field(0, "weight_decay")};
  }));
  const RunResult result = trainer.Train(
      {.data = LinePoints(8),
       .length = Epochs(2),
       .per_device_batch_size = 2,
       .grad_accum_steps = 2,
       .schedule = Counting(),
       .schedules = {{"lr", Counting(), "second", StepOn::kBatch},
                     {"weight_decay", Counting(), "second", StepOn::kEpoch}}});
  EXPECT_EQ(result.clock.updates(), 4);  // of the run, not of each
  EXPECT_THAT(seen, ElementsAre(4, 8, 2));
  EXPECT_EQ(first.Field(0, "lr"), 8);
  EXPECT_EQ(second.Field(0, "lr"), 8);
}

TEST(TaskTest, AScheduleByHandWaitsForTheTask) {
  class ByHand final : public TwoOptimizers {
    StepOutput TrainStep(const Example& batch, StepContext& step) override {
      if (step.clock().epoch_batches() == 3) step.StepSchedules(first);
      return TwoOptimizers::TrainStep(batch, step);
    }
  };
  auto task = std::make_unique<ByHand>();
  AdamW& first = task->first;
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::move(task), *backend);
  std::vector<double> rates;
  trainer.Add(On<StepEnd>([&](const StepEnd&, Control&) {
    rates.push_back(first.Field(0, "lr"));
  }));
  trainer.Train({.data = LinePoints(10),
                 .length = Epochs(1),
                 .per_device_batch_size = 2,
                 .schedules = {{"lr", Counting(), "first", StepOn::kRequest}}});
  EXPECT_THAT(rates, ElementsAre(0, 0, 0, 1, 1));
}

TEST(TaskTest, ASchedulesOptimizerMustBeThere) {
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<TwoOptimizers>(), *backend);
  try {
    trainer.Train({.data = LinePoints(4),
                   .length = Epochs(1),
                   .schedules = {{"lr", Counting(), "third"}}});
    FAIL() << "trained";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(), HasSubstr("for the optimizer \"third\"; there is "
                                    "\"first\" \"second\""));
  }
}

TEST(TaskTest, APlateauIsShownTheEvaluation) {
  LineRig rig(/*lr=*/8);
  std::vector<double> rates;
  rig.trainer().Add(On<EpochEnd>([&](const EpochEnd&, Control&) {
    rates.push_back(rig.optimizer().Field(0, "lr"));
  }));
  // No loss is ever better than the first by ten thousand: falls every epoch.
  rig.trainer().Train(
      {.data = LinePoints(4),
       .eval_data = LinePoints(4),
       .length = Epochs(3),
       .schedule = OnPlateau(
           {.factor = 0.5,
            .patience = 0,
            .threshold = 1e4,
            .threshold_mode = PlateauOptions::Threshold::kAbsolute})});
  EXPECT_THAT(rates, ElementsAre(8, 4, 2));
}

// Evaluates all at once: the largest error of any point.
class Worst final : public DatasetTaskOf<Example> {
 public:
  StepOutput TrainStep(const Example&, StepContext&) override { return {}; }
  Metrics EvaluateDataset(BatchSource& loader, StepContext&) override {
    double worst = 0;
    int64_t batches = 0;
    while (std::optional<AnyBatch> batch = loader.Next()) {
      ++batches;
      worst = std::max(worst,
                       batch->As<Example>().target.abs().max().item<double>());
    }
    return {{"worst", worst}, {"batches", static_cast<double>(batches)}};
  }
};

TEST(TaskTest, AWholeDatasetMayBeEvaluatedAtOnce) {
  TestLinear line(3, 1);
  AdamW optimizer(*line, {});
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<Worst>(), optimizer, *backend);
  int steps = 0;
  trainer.Add(
      On<EvalStepStart>([&](const EvalStepStart&, Control&) { ++steps; }));
  const Metrics metrics = trainer.Evaluate(LinePoints(10), 4);
  EXPECT_EQ(metrics.at("evaluation_batches"), 3);
  EXPECT_GT(metrics.at("evaluation_worst"), 0);
  EXPECT_EQ(steps, 0);
}

// The order of samples is the task's business too.
TEST(TaskTest, ALoaderOfTheTasksOwn) {
  class InOrder final : public TwoOptimizers {
   public:
    std::unique_ptr<BatchSource> TrainLoader(
        const LoaderRequest& request) override {
      return std::make_unique<Loader>(
          request.data,
          std::make_shared<SequentialSampler>(request.data->size()),
          LoaderOptions{.batch_size = request.batch_size,
                        .last_batch = LastBatch::kDrop});
    }
  };
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<InOrder>(), *backend);
  const DatasetPtr data = LinePoints(10);
  const at::Tensor first = data->Gather(at::arange(4))
                               .To(backend->device())
                               .As<Example>()
                               .input.clone();
  trainer.Add(On<StepStart>([&](const StepStart& e, Control&) {
    if (e.clock.epoch_batches() == 0) {
      EXPECT_TRUE(at::equal(e.batch.As<Example>().input, first));
    }
  }));
  const RunResult result = trainer.Train(
      {.data = data, .length = Epochs(2), .per_device_batch_size = 4});
  EXPECT_EQ(result.clock.samples(), 16);
}

}  // namespace
}  // namespace trainyard

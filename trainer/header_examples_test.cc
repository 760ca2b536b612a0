// The examples of headers in trainer/, and of callbacks that need a trainer,
// compiled and run.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
#include "callbacks/callback_handler.h"
#include "callbacks/other_weights.h"
#include "callbacks/printing/progress_bar.h"
#include "callbacks/recording/update_history.h"
#include "callbacks/weights/model_ema.h"
#include "trainer/better.h"
#include "trainer/control.h"
#include "trainer/data/batch.h"
#include "trainer/data/idx_files.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/loop/cancellation.h"
#include "trainer/loop/check_models.h"
#include "trainer/loop/grad_window.h"
#include "trainer/loop/step_runner.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/run_clock.h"
#include "trainer/schedule_set.h"
#include "trainer/state.h"
#include "trainer/state_tensor.h"
#include "trainer/supervised.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using Net = TestLinear;

struct ImageBatch {
  at::Tensor image, label;
  auto tensors() { return std::tie(image, label); }
};

at::Tensor Loss(const at::Tensor& outputs, const at::Tensor& label) {
  return MeanSquaredError()(outputs, label);
}

class MyTask final : public TaskOf<ImageBatch> {
 public:
  explicit MyTask(Net net) : net_(net) { AddModel("net", net.ptr()); }
  StepOutput TrainStep(const ImageBatch& batch, StepContext&) override {
    return {.loss = Loss(net_->forward(batch.image), batch.label)};
  }
  StepOutput EvalStep(const ImageBatch& batch, StepContext&) override {
    return {.loss = Loss(net_->forward(batch.image), batch.label)};
  }

 private:
  Net net_;
};

struct TrainerExamplesTest : ::testing::Test {
  Net model{3, 1};
  AdamW optimizer{*model};
  std::unique_ptr<Backend> own_backend = MakeBackend("sp");
  Backend& backend = *own_backend;
};

TEST_F(TrainerExamplesTest, StepRunner) {
  MyTask task(model);
  Control control;
  CallbackHandler handler(control);
  RunClock clock;
  ScheduleSet schedules;
  const AnyBatch batch(ImageBatch{at::ones({2, 3}), at::ones({2, 1})});
  clock.StartEpoch();
  StepRunner runner({task, {&optimizer}, backend, handler, clock}, ClipNorm(1),
                    &schedules);
  const StepOutput output = runner.Run(batch, /*batches_left=*/10);
  EXPECT_TRUE(output.loss.defined());
  EXPECT_EQ(clock.updates(), 1);
}

TEST_F(TrainerExamplesTest, CheckModels) {
  struct Adding final : public TaskOf<ImageBatch> {
    Adding(const Net& net, Optimizer& optimizer) {
      AddModel("net", net.ptr());
      AddOptimizer("adamw", optimizer);
    }
    StepOutput TrainStep(const ImageBatch&, StepContext&) override {
      return {};
    }
    StepOutput EvalStep(const ImageBatch&, StepContext&) override { return {}; }
  };
  const Adding task(model, optimizer);
  CheckModels(task.Models(), task.optimizers());
  EXPECT_THROW(CheckModels({}, task.optimizers()), c10::ValueError);
}

TEST_F(TrainerExamplesTest, GradWindowOfOneProcess) {
  GradWindow window;
  const double weight = 2;
  window.Start(/*batches=*/4);
  for (int batch = 0; batch < 4; ++batch) {
    const at::Tensor loss = model->forward(at::ones({2, 3})).mean();
    backend.Backward(loss, {.share = window.Add(weight)});
  }
  backend.Update(optimizer, {.divisor = window.divisor()});
  EXPECT_EQ(window.divisor(), 1);
}

TEST_F(TrainerExamplesTest, GradWindowOfSeveralProcesses) {
  GradWindow window;
  const double weight = 2;
  window.Start(/*batches=*/1);
  const at::Tensor loss = model->forward(at::ones({2, 3})).mean();
  const double share = window.Add(weight, backend.ReferenceWeight(weight));
  backend.Backward(loss, {.share = share, .weight = window.total()});
  const double divisor = window.divisor(backend.FinishGradients(optimizer));
  EXPECT_EQ(divisor, 1);
}

TEST(TrainerExampleTest, Trains) {
  TestLinear model(3, 1);
  AdamW optimizer(*model);
  const auto backend = MakeBackend("sp");
  const at::Tensor x = at::ones({8, 3});
  const DatasetPtr train =
      MakeTensorDataset(Example{x, at::zeros({8}, at::kLong)});
  const DatasetPtr test = train;
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  trainer.Add(ProgressBar());
  const RunResult result =
      trainer.Train({.data = train, .eval_data = test, .length = Epochs(5)});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
}

struct BestSoFar {
  double loss;
};

class GoodEnough final : public Callback {
 public:
  void OnEvalEnd(const EvalEnd& e, Control& control) override {
    if (e.metrics.at("eval_loss") < 0.1) control.RequestStop("good enough");
  }
};

class Watcher final : public Callback {
 public:
  void OnStepEnd(const StepEnd&, Control& control) override {
    const double loss = 0.5;
    control.callbacks().Fire(BestSoFar{loss});
    auto* ema = control.callbacks().Find<ModelEma>();
    has_ema = ema != nullptr;
  }
  bool has_ema = true;
};

TEST(ControlExampleTest, LeadsToTheOtherCallbacks) {
  LineRig rig;
  Watcher watcher;
  rig.trainer().Add(watcher);
  rig.trainer().Add(GoodEnough());
  rig.trainer().Train(
      {.data = LinePoints(4), .eval_data = LinePoints(4), .length = Epochs(1)});
  EXPECT_FALSE(watcher.has_ema);
}

TEST(BetterExampleTest, KeepsTheBest) {
  double best = 2;
  for (const double value : {3.0, 1.0}) {
    if (Improves(value, best, Better::kLower)) best = value;
  }
  EXPECT_EQ(best, 1);
}

TEST(CancellationExampleTest, EndsTheLoop) {
  const Cancellation cancellation;
  int steps = 0;
  while (!cancellation.requested()) {
    if (++steps == 3) std::raise(SIGTERM);
  }
  EXPECT_EQ(steps, 3);
}

TEST(OrThrowExampleTest, ThrowsTheStatus) {
  const std::string path = "/no/such/file";
  EXPECT_ANY_THROW({
    const at::Tensor images = OrThrow(ReadIdxFile(path));
    static_cast<void>(images);
  });
}

class Best final : public Stateful {
 public:
  explicit Best(double best) : best_(best) {}
  State SaveState() const override {
    State state;
    state.Set("best", best_);
    return state;
  }
  void LoadState(const State& state) override {
    best_ = state.Get<double>("best");
  }
  double best() const { return best_; }

 private:
  double best_;
};

TEST(StateExampleTest, LoadsWhatWasSaved) {
  Best other(0);
  other.LoadState(Best(0.5).SaveState());
  EXPECT_EQ(other.best(), 0.5);
}

TEST(StateTensorExampleTest, LoadsWhatWasSaved) {
  at::Tensor scale_ = at::ones({2});
  State state;
  SetTensor(state, "scale", scale_);
  scale_ = at::Tensor();
  scale_ = GetTensor(state, "scale").clone();
  EXPECT_EQ(scale_.numel(), 2);
}

TEST(ModulesExampleTest, ComputesGradients) {
  const at::Tensor input = at::ones({4, 3});
  TestSequential model{TestLinear(3, 4), TestBatchNorm1d(4)};
  AdamW optimizer(*model);
  model->forward(input).sum().backward();
  const at::Tensor gradient = model["0.weight"].grad();
  EXPECT_TRUE(gradient.defined());
}

class Averages final : public Callback, public OtherWeights {
 public:
  std::string prefix() const override { return "average"; }
  void Enter() override { ++entered; }
  void Leave() override {}
  int entered = 0;
};

TEST(OtherWeightsExampleTest, AreEvaluatedToo) {
  LineRig rig;
  Averages averages;
  rig.trainer().Add(averages);
  rig.trainer().Train(
      {.data = LinePoints(4), .eval_data = LinePoints(4), .length = Epochs(1)});
  EXPECT_EQ(averages.entered, 1);
  EXPECT_FALSE(rig.trainer().history().Values("average_eval_loss").empty());
}

TEST(UpdateHistoryExampleTest, HasAValuePerUpdate) {
  LineRig rig;
  Trainer& trainer = rig.trainer();
  int values = 0;
  UpdateHistory& history = trainer.Add(UpdateHistory());
  trainer.Train({.data = LinePoints(16),
                 .length = Epochs(1),
                 .report = Every(Updates(1))});
  for (const auto& [updates, loss] : history.Values("train_loss")) {
    EXPECT_EQ(updates, ++values);
    EXPECT_GT(loss, 0);
  }
  EXPECT_EQ(values, 2);
}

}  // namespace
}  // namespace trainyard

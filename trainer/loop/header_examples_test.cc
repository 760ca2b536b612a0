// The examples of the headers in trainer/loop and trainer, compiled and run.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback_handler.h"
#include "tracking/run_history.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/control.h"
#include "trainer/held_task.h"
#include "trainer/loop/evaluator.h"
#include "trainer/loop/format1.h"
#include "trainer/loop/run_state.h"
#include "trainer/loop/training_run.h"
#include "trainer/loop/window_gradients.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/run_clock.h"
#include "trainer/run_result.h"
#include "trainer/schedule_set.h"
#include "trainer/supervised.h"
#include "trainer/testing/clock_at.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

void Print(const std::string& text) { std::cout << text << "\n"; }

struct LoopExamplesTest : ::testing::Test {
  TestLinear model{3, 1};
  AdamW optimizer{*model};
  std::unique_ptr<Task> owned = Supervised(model, MeanSquaredError());
  Task& task = *owned;
  std::unique_ptr<Backend> own_backend = MakeBackend("sp");
  Backend& backend = *own_backend;
  Control control;
  CallbackHandler callbacks{control};
  InMemoryRunHistory history;
  std::vector<NamedOptimizer> optimizers = {{"optimizer", &optimizer}};
};

TEST_F(LoopExamplesTest, OneRun) {
  const TrainOptions options{.data = LinePoints(4), .length = Epochs(1)};
  TrainingRun run({task, optimizers, backend, callbacks, control, history},
                  options);
  const RunResult result = run.Run();
  EXPECT_EQ(result.clock.epoch(), 1);
}

TEST_F(LoopExamplesTest, AResult) {
  const TrainOptions options{.data = LinePoints(4), .length = Epochs(1)};
  LineRig rig;
  Trainer& trainer = rig.trainer();
  const RunResult result = trainer.Train(options);
  if (result.ending == RunEnding::kStopped) Print(result.message);
  EXPECT_EQ(result.ending, RunEnding::kFinished);
}

class MyTask final : public TaskOf<Example> {
  StepOutput TrainStep(const Example&, StepContext&) override { return {}; }
  StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
};

TEST_F(LoopExamplesTest, TasksAreBorrowedOrKept) {
  MyTask task;
  HeldTask borrowed(task);
  HeldTask kept(Supervised(model, CrossEntropy()));
  EXPECT_EQ(borrowed.task(), &task);
  EXPECT_NE(kept.task(), nullptr);
  EXPECT_EQ(kept.callback(), nullptr);
}

TEST_F(LoopExamplesTest, AnEvaluation) {
  RunClock clock;
  Evaluator evaluator({task, backend, callbacks, &history}, {});
  const LoaderRequest request = evaluator.Request(LinePoints(4), 2);
  evaluator.Add("eval", task.EvalLoader(request));
  const Metrics metrics = evaluator.Evaluate(clock);
  EXPECT_EQ(metrics.at("eval_loss"), history.Latest("eval_loss"));
}

TEST_F(LoopExamplesTest, PartsAreCollectedAndLoaded) {
  ScheduleSet schedules;
  InMemoryRunHistory callback;
  Checkpoint checkpoint;
  RunState state(backend);
  state.Add("schedules", schedules);
  state.Add("callback X", callback, RunState::IfMissing::kWarn);
  state.Collect(/*in_window=*/false, checkpoint);
  state.Load(checkpoint);
  EXPECT_EQ(checkpoint.parts.size(), 2);
  WindowGradients gradients(task);
  checkpoint.parts["gradients"] = gradients.SaveState();
  Restored restored{.checkpoint = checkpoint};
  UpgradeFormat1(restored.checkpoint);
  EXPECT_EQ(restored.checkpoint.parts.size(), 3);
}

class Listener final : public Callback {
 public:
  void OnMetricsReport(const MetricsReport& e, Control&) override {
    updates = e.clock.updates();
  }
  int64_t updates = 0;
};

TEST_F(LoopExamplesTest, AClockSomewhere) {
  Listener callback;
  const Metrics metrics;
  const RunClock clock = ClockAt({.epoch = 2, .updates = 20});
  callback.OnMetricsReport({clock, metrics}, control);
  EXPECT_EQ(callback.updates, 20);
}

}  // namespace
}  // namespace trainyard

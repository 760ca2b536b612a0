// What callbacks and tasks can reach during a run: requests to the loop, other
// callbacks, events of their own, the ranks.
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "trainer/checkpoint/testing/memory_folder.h"
#include "trainer/loop/cancellation.h"
#include "trainer/optim/adamw.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Requests something after the second batch; notes evaluations, checkpoints and
// ends by the number of batches.
class Asker final : public Callback {
 public:
  explicit Asker(std::function<void(Control&)> ask) : ask_(std::move(ask)) {}
  void OnStepEnd(const StepEnd& e, Control& control) override {
    if (e.clock.batches() == 2) ask_(control);
  }
  void OnEvalEnd(const EvalEnd& e, Control&) override { Note("eval", e.clock); }
  void OnCheckpointSaved(const CheckpointSaved& e, Control&) override {
    Note("saved", e.clock);
  }
  void OnRunEnd(const RunEnd& e, Control&) override { Note("end", e.clock); }
  std::vector<std::string> log;

 private:
  void Note(const std::string& what, const RunClock& clock) {
    log.push_back(what + " " + std::to_string(clock.batches()));
  }
  std::function<void(Control&)> ask_;
};

class RequestsTest : public ::testing::Test {
 protected:
  // Four batches in one epoch; at the end an evaluation and a checkpoint.
  std::vector<std::string> LogOf(std::function<void(Control&)> ask,
                                 const CancellationOptions& cancellation = {}) {
    std::filesystem::remove_all(folder_);
    LineRig rig;
    Asker asker(std::move(ask));
    rig.trainer().Add(asker);
    result = rig.trainer().Train({.data = LinePoints(8),
                                  .eval_data = LinePoints(2),
                                  .length = Epochs(1),
                                  .per_device_batch_size = 2,
                                  .checkpoint = {.directory = folder_},
                                  .cancellation = cancellation});
    return asker.log;
  }

  RunResult result;
  std::string folder_ = MemoryFolder() + "/requests";
};

TEST_F(RequestsTest, AnEvaluation) {
  EXPECT_THAT(LogOf([](Control& control) { control.RequestEvaluation(); }),
              ElementsAre("eval 2", "eval 4", "saved 4", "end 4"));
}

TEST_F(RequestsTest, ACheckpointComesAfterTheEvaluation) {
  EXPECT_THAT(LogOf([](Control& control) {
                control.RequestCheckpoint();
                control.RequestEvaluation();
              }),
              ElementsAre("eval 2", "saved 2", "eval 4", "saved 4", "end 4"));
}

TEST_F(RequestsTest, AStopSaves) {
  EXPECT_THAT(LogOf([](Control& control) { control.RequestStop("enough"); }),
              ElementsAre("saved 2", "end 2"));
  EXPECT_EQ(result.ending, RunEnding::kStopped);
  EXPECT_EQ(result.message, "enough");
}

TEST_F(RequestsTest, ASignalThatSaves) {
  EXPECT_THAT(
      LogOf([](Control&) { raise(SIGUSR1); }, {.save_signals = {SIGUSR1}}),
      ElementsAre("saved 2", "eval 4", "saved 4", "end 4"));
  EXPECT_EQ(result.ending, RunEnding::kFinished);
}

TEST_F(RequestsTest, ASignalThatEnds) {
  EXPECT_THAT(LogOf([](Control&) { raise(SIGHUP); }, {.signals = {SIGHUP}}),
              ElementsAre("saved 2", "end 2"));
  EXPECT_EQ(result.ending, RunEnding::kCancelled);
  EXPECT_EQ(result.message, "SIGHUP");
}

TEST_F(RequestsTest, AnEndOfTheJobThatTheOptionsTell) {
  EXPECT_THAT(LogOf([](Control&) {},
                    {.job_end = CancellationOptions::Time::clock::now()}),
              ElementsAre("saved 0", "end 0"));
  EXPECT_EQ(result.ending, RunEnding::kCancelled);
}

TEST_F(RequestsTest, AStopThatSavesNothing) {
  EXPECT_THAT(LogOf([](Control& control) {
                control.RequestStopAndDiscard("gone wrong");
              }),
              ElementsAre("end 2"));
}

TEST(ReachTest, RunStartTellsOfResumeAndRanks) {
  const std::string folder = MemoryFolder() + "/resumed";
  std::vector<std::string> starts;
  for (int64_t epochs = 1; epochs <= 2; ++epochs) {
    LineRig rig;
    rig.trainer().Add(On<RunStart>([&](const RunStart& e, Control&) {
      starts.push_back((e.resumed ? "resumed at " : "new at ") +
                       std::to_string(e.clock.epoch()) + ", rank " +
                       std::to_string(e.backend.rank()) + " of " +
                       std::to_string(e.backend.num_processes()));
    }));
    rig.trainer().Train({.data = LinePoints(4),
                         .length = Epochs(epochs),
                         .checkpoint = {.directory = folder},
                         .resume = Resume::kIfPresent});
  }
  EXPECT_THAT(starts, ElementsAre("new at 0, rank 0 of 1",
                                  "resumed at 1, rank 0 of 1"));
}

// An event of the user's own.
struct Milepost {
  int64_t batch;
};

class Listener final : public Callback, public Handles<Milepost> {
 public:
  void Handle(const Milepost& event, Control&) override {
    heard.push_back(event.batch);
  }
  std::vector<int64_t> heard;
};

class SpeakingTask final : public TaskOf<Example> {
 public:
  SpeakingTask() {
    AddModel("line", line_.ptr());
    AddOptimizer("line", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    step.control().callbacks().Fire(Milepost{step.clock().batches()});
    found = step.control().callbacks().Find<Listener>() != nullptr;
    if (step.clock().batches() == 2) step.control().RequestStop("the task");
    return {.loss = at::mse_loss(line_->forward(batch.input), batch.target)};
  }
  StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
  bool found = false;

 private:
  TestLinear line_{3, 1};
  AdamW optimizer_{*line_};
};

TEST(ReachTest, ATaskFindsCallbacksFiresEventsAndStops) {
  const auto backend = MakeBackend("sp");
  SpeakingTask task;  // a variable is borrowed
  Trainer trainer(task, *backend);
  const Listener& listener = trainer.Add(Listener());
  const RunResult result = trainer.Train(
      {.data = LinePoints(8), .length = Epochs(1), .per_device_batch_size = 1});
  EXPECT_THAT(listener.heard, ElementsAre(0, 1, 2));
  EXPECT_TRUE(task.found);
  EXPECT_EQ(result.message, "the task");
}

TEST(ReachTest, ACallbackFindsCallbacksAndFiresEvents) {
  LineRig rig;
  Listener listener;
  bool found = false;
  rig.trainer().Add(On<StepEnd>([&](const StepEnd& e, Control& control) {
    control.callbacks().Fire(Milepost{e.clock.batches()});
    found = control.callbacks().Find<Listener>() == &listener;
  }));
  rig.trainer().Add(listener);
  rig.trainer().Train(
      {.data = LinePoints(2), .length = Epochs(1), .per_device_batch_size = 1});
  EXPECT_THAT(listener.heard, ElementsAre(1, 2));
  EXPECT_TRUE(found);
}

TEST(ReachTest, TheTrainerFindsCallbacksAndFiresEvents) {
  LineRig rig;
  EXPECT_EQ(rig.trainer().callbacks().Find<Listener>(), nullptr);
  const Listener& listener = rig.trainer().Add(Listener());
  EXPECT_EQ(rig.trainer().callbacks().Find<Listener>(), &listener);
  rig.trainer().callbacks().Fire(Milepost{7});
  EXPECT_THAT(listener.heard, ElementsAre(7));
}

TEST(ReachTest, AnEvaluationUsesTheBatchSizeOfTheLastRun) {
  LineRig rig;
  std::vector<int64_t> sizes;
  rig.trainer().Add(On<EvalStepEnd>([&](const EvalStepEnd& e, Control&) {
    sizes.push_back(e.batch.size());
  }));
  rig.trainer().Train(
      {.data = LinePoints(4), .length = Epochs(1), .per_device_batch_size = 3});
  EXPECT_THAT(sizes, IsEmpty());
  rig.trainer().Evaluate(LinePoints(6));
  EXPECT_THAT(sizes, ElementsAre(3, 3));
  rig.trainer().Evaluate(LinePoints(6), 6);
  EXPECT_THAT(sizes, ElementsAre(3, 3, 6));
}

}  // namespace
}  // namespace trainyard

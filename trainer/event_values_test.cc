// What the events of a run carry, beside their order: values, and what the
// history has when they are fired.
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "trainer/optim/sgd.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Epoch, and what was done before: batches of the epoch and of the run,
// updates, samples.
using Place = std::vector<int64_t>;

Place PlaceOf(const RunClock& clock) {
  return {clock.epoch(), clock.epoch_batches(), clock.batches(),
          clock.updates(), clock.samples()};
}

// A line that writes down what it returns and what it is told.
class ToldLine final : public TaskOf<Example> {
 public:
  ToldLine() {
    AddModel("line", line_.ptr());
    AddOptimizer("sgd", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    train_places.push_back(PlaceOf(step.clock()));
    const at::Tensor outputs = line_->forward(batch.input);
    step.ForwardDone(outputs);
    const at::Tensor loss = at::mse_loss(outputs, batch.target);
    losses.push_back(loss.item<double>());
    return {.loss = loss, .metrics = {{"size", outputs.abs().mean()}}};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    eval_places.push_back(PlaceOf(step.clock()));
    const at::Tensor outputs = line_->forward(batch.input);
    return {.loss = at::mse_loss(outputs, batch.target), .outputs = outputs};
  }

  std::vector<double> losses;
  std::vector<Place> train_places, eval_places;

 private:
  TestLinear line_{3, 1};
  SGD optimizer_{*line_, {.lr = 0.01}};
};

class EventValuesTest : public ::testing::Test {
 protected:
  EventValuesTest() {
    auto task = std::make_unique<ToldLine>();
    task_ = task.get();
    trainer_ = std::make_unique<Trainer>(std::move(task), *backend_);
  }

  // Two epochs of batches of 4, 4 and 2 samples, in windows of two.
  void Train() {
    trainer_->Train({.data = LinePoints(10),
                     .eval_data = LinePoints(6),
                     .length = Epochs(2),
                     .per_device_batch_size = 4,
                     .grad_accum_steps = 2});
  }

  const std::unique_ptr<Backend> backend_ = MakeBackend("sp");
  std::unique_ptr<Trainer> trainer_;
  ToldLine* task_ = nullptr;
};

// Not the part of it that an accumulation window takes.
TEST_F(EventValuesTest, TheLossIsThatOfTheBatch) {
  std::map<std::string, std::vector<double>> seen;
  const auto note = [&](const std::string& event, const StepOutput& output) {
    seen[event].push_back(output.loss.item<double>());
  };
  trainer_->Add(On<LossEnd>(
      [&](const LossEnd& e, Control&) { note("LossEnd", e.output); }));
  trainer_->Add(On<BackwardEnd>(
      [&](const BackwardEnd& e, Control&) { note("BackwardEnd", e.output); }));
  trainer_->Add(On<StepEnd>(
      [&](const StepEnd& e, Control&) { note("StepEnd", e.output); }));
  Train();
  ASSERT_EQ(task_->losses.size(), 6);
  for (const auto& event : {"LossEnd", "BackwardEnd", "StepEnd"}) {
    EXPECT_EQ(seen[event], task_->losses) << event;
  }
}

TEST_F(EventValuesTest, ABatchHasItsSizeItsOutputsAndItsMetrics) {
  std::vector<int64_t> outputs, sizes, evaluated;
  std::vector<double> weights;
  trainer_->Add(On<ForwardEnd>([&](const ForwardEnd& e, Control&) {
    outputs.push_back(e.outputs.size(0));
  }));
  trainer_->Add(On<LossEnd>([&](const LossEnd& e, Control&) {
    sizes.push_back(e.batch.size());
    weights.push_back(e.output.weight.value());
    EXPECT_EQ(e.output.metrics.at(0).first, "size");
  }));
  trainer_->Add(On<EvalStepEnd>([&](const EvalStepEnd& e, Control&) {
    evaluated.push_back(e.output.outputs.size(0));
  }));
  Train();
  EXPECT_THAT(outputs, ElementsAre(4, 4, 2, 4, 4, 2));
  EXPECT_EQ(sizes, outputs);
  EXPECT_THAT(weights, ElementsAre(4, 4, 2, 4, 4, 2));
  EXPECT_THAT(evaluated, ElementsAre(4, 2, 4, 2));
}

// The indices of a step count in the epoch and since the start of the run.
TEST_F(EventValuesTest, AStepIsToldWhereTheRunIs) {
  std::vector<int64_t> eval_batches;
  trainer_->Add(On<EvalStepEnd>([&](const EvalStepEnd& e, Control&) {
    eval_batches.push_back(e.batch_idx);
  }));
  Train();
  EXPECT_THAT(task_->train_places,
              ElementsAre(Place{0, 0, 0, 0, 0}, Place{0, 1, 1, 0, 4},
                          Place{0, 2, 2, 1, 8}, Place{1, 0, 3, 2, 10},
                          Place{1, 1, 4, 2, 14}, Place{1, 2, 5, 3, 18}));
  EXPECT_THAT(task_->eval_places,
              ElementsAre(Place{0, 3, 3, 2, 10}, Place{0, 3, 3, 2, 10},
                          Place{1, 3, 6, 4, 20}, Place{1, 3, 6, 4, 20}));
  EXPECT_THAT(eval_batches, ElementsAre(0, 1, 0, 1));
}

// The means of an epoch are in the history before anybody is told of its end,
// and the history's epoch counts on after everybody was.
TEST_F(EventValuesTest, TheHistoryIsAheadOfTheCallbacks) {
  std::vector<std::string> log;
  const auto note = [&](const std::string& event, const RunHistory& history) {
    log.push_back(
        event + " of " + std::to_string(history.current_epoch()) + ": " +
        std::to_string(history.Values("train_loss").size()) + " trained, " +
        std::to_string(history.Values("eval_loss").size()) + " evaluated");
  };
  trainer_->Add(On<TrainEpochEnd>([&](const TrainEpochEnd& e, Control&) {
    note("TrainEpochEnd", e.history);
  }));
  trainer_->Add(On<EvalEnd>([&](const EvalEnd& e, Control&) {
    note("EvalEnd", trainer_->history());
    EXPECT_EQ(trainer_->history().Latest("eval_loss"),
              e.metrics.at("eval_loss"));
  }));
  trainer_->Add(On<EpochEnd>(
      [&](const EpochEnd& e, Control&) { note("EpochEnd", e.history); }));
  trainer_->Add(On<RunEnd>(
      [&](const RunEnd& e, Control&) { note("RunEnd", e.history); }));
  Train();
  EXPECT_THAT(log, ElementsAre("TrainEpochEnd of 1: 1 trained, 0 evaluated",
                               "EvalEnd of 1: 1 trained, 1 evaluated",
                               "EpochEnd of 1: 1 trained, 1 evaluated",
                               "TrainEpochEnd of 2: 2 trained, 1 evaluated",
                               "EvalEnd of 2: 2 trained, 2 evaluated",
                               "EpochEnd of 2: 2 trained, 2 evaluated",
                               "RunEnd of 3: 2 trained, 2 evaluated"));
}

}  // namespace
}  // namespace trainyard

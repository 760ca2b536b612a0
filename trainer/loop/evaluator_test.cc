// What an evaluation within a run is: without gradients, in evaluation mode, in
// the data's order, on every set that there is, and none without data.
#include "trainer/loop/evaluator.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mse_loss.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "tools/testing/error_of.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A line as in LineRig that writes down how it is called.
class WatchedLine : public TaskOf<Example> {
 public:
  WatchedLine() {
    AddModel("line", line.ptr());
    AddOptimizer("adamw", optimizer);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    train_inputs.push_back(batch.input);
    return {.loss = Loss(batch)};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    if (in_eval) in_eval(step);
    eval_inputs.push_back(batch.input);
    gradients.push_back(at::GradMode::is_enabled());
    const at::Tensor outputs = line->forward(batch.input);
    output_types.push_back(outputs.scalar_type());
    return {.loss = at::mse_loss(outputs.to(at::kFloat), batch.target)};
  }

  TestLinear line{3, 1};
  std::vector<at::Tensor> train_inputs, eval_inputs;
  std::vector<bool> gradients;
  std::vector<at::ScalarType> output_types;
  AdamW optimizer{*line};
  std::function<void(StepContext&)> in_eval;

 private:
  at::Tensor Loss(const Example& batch) const {
    return at::mse_loss(line->forward(batch.input), batch.target);
  }
};

class EvaluationTest : public ::testing::Test {
 protected:
  explicit EvaluationTest(const std::string& backend = "sp")
      : backend_(MakeBackend(backend)) {
    auto task = std::make_unique<WatchedLine>();
    task_ = task.get();
    trainer_ = std::make_unique<Trainer>(std::move(task), *backend_);
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Trainer> trainer_;
  WatchedLine* task_ = nullptr;
};

TEST_F(EvaluationTest, KeepsNoGradients) {
  trainer_->Train(
      {.data = LinePoints(8), .eval_data = LinePoints(4), .length = Epochs(2)});
  EXPECT_THAT(task_->gradients, ElementsAre(false, false));
  task_->gradients.clear();
  trainer_->Evaluate(LinePoints(4));
  EXPECT_THAT(task_->gradients, ElementsAre(false));
  EXPECT_TRUE(at::GradMode::is_enabled());
}

TEST(DatasetEvaluationTest, KeepsNoGradients) {
  class Whole final : public DatasetTaskOf<Example> {
   public:
    StepOutput TrainStep(const Example&, StepContext&) override { return {}; }
    Metrics EvaluateDataset(BatchSource&, StepContext&) override {
      return {{"gradients", at::GradMode::is_enabled() ? 1 : 0}};
    }
  };
  TestLinear line(3, 1);
  AdamW optimizer(*line, {});
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<Whole>(), optimizer, *backend);
  EXPECT_EQ(trainer.Evaluate(LinePoints(4)).at("evaluation_gradients"), 0);
}

class AmpEvaluationTest : public EvaluationTest {
 protected:
  AmpEvaluationTest() : EvaluationTest("sp-amp") {}
};

TEST_F(AmpEvaluationTest, IsAutocast) {
  trainer_->Evaluate(LinePoints(4));
  EXPECT_THAT(
      task_->output_types,
      ElementsAre(backend_->device().is_cpu() ? at::kBFloat16 : at::kHalf));
}

TEST_F(EvaluationTest, WithoutDataThereIsNone) {
  int events = 0;
  trainer_->Add(On<EvalStart>([&](const EvalStart&, Control&) { ++events; }));
  trainer_->Add(On<EvalEnd>([&](const EvalEnd&, Control&) { ++events; }));
  const RunResult result =
      trainer_->Train({.data = LinePoints(8), .length = Epochs(2)});
  EXPECT_EQ(result.ending, RunEnding::kFinished);
  EXPECT_EQ(events, 0);
  EXPECT_THAT(task_->eval_inputs, IsEmpty());
  EXPECT_THAT(trainer_->history().Names(), ElementsAre("train_loss"));
}

// The metrics of each set are its own, and all are kept.
TEST_F(EvaluationTest, EverySetIsInTheHistory) {
  const DatasetPtr rare = LinePoints(3), all = LinePoints(5);
  trainer_->Train({.data = LinePoints(8),
                   .eval_data = LinePoints(4),
                   .eval_sets = {{"rare", rare}, {"all", all}},
                   .length = Epochs(2)});
  const RunHistory& history = trainer_->history();
  EXPECT_THAT(history.Names(),
              ElementsAre("all_loss", "eval_loss", "rare_loss", "train_loss"));
  for (const std::string& name : history.Names()) {
    EXPECT_EQ(history.Values(name).size(), 2) << name;
  }
  EXPECT_EQ(trainer_->Evaluate(rare).at("evaluation_loss"),
            history.Latest("rare_loss"));
  EXPECT_EQ(trainer_->Evaluate(all).at("evaluation_loss"),
            history.Latest("all_loss"));
}

// One smaller batch, and its mean.
TEST_F(EvaluationTest, ABatchMayBeLargerThanTheData) {
  const double whole =
      trainer_->Evaluate(LinePoints(3), 100).at("evaluation_loss");
  ASSERT_EQ(task_->eval_inputs.size(), 1);
  EXPECT_EQ(task_->eval_inputs[0].size(0), 3);
  EXPECT_FLOAT_EQ(trainer_->Evaluate(LinePoints(3), 1).at("evaluation_loss"),
                  whole);
}

TEST_F(EvaluationTest, ReadsInOrderWhatTrainingShuffles) {
  const DatasetPtr data = LinePoints(12);
  trainer_->Train({.data = data,
                   .eval_data = data,
                   .length = Epochs(2),
                   .per_device_batch_size = 5});
  const auto epoch = [](const std::vector<at::Tensor>& inputs, size_t number) {
    return at::cat(
        {inputs[3 * number], inputs[3 * number + 1], inputs[3 * number + 2]});
  };
  ASSERT_EQ(task_->train_inputs.size(), 6);
  ASSERT_EQ(task_->eval_inputs.size(), 6);
  const at::Tensor in_order = epoch(task_->eval_inputs, 0);
  const AnyBatch all = data->Gather(at::arange(12)).To(backend_->device());
  EXPECT_TRUE(at::equal(in_order, all.As<Example>().input));
  EXPECT_TRUE(at::equal(epoch(task_->eval_inputs, 1), in_order));
  const at::Tensor first = epoch(task_->train_inputs, 0);
  const at::Tensor second = epoch(task_->train_inputs, 1);
  EXPECT_FALSE(at::equal(first, in_order));
  EXPECT_FALSE(at::equal(first, second));
  // The same samples.
  EXPECT_TRUE(
      at::equal(std::get<0>(first.sort(0)), std::get<0>(second.sort(0))));
}

// The models' mode when callbacks hear of it, also around an evaluation within
// an epoch.
TEST_F(EvaluationTest, ModesAreSetBeforeTheCallbacks) {
  std::vector<bool> epoch, step, eval_start, eval_step;
  const auto note = [this](std::vector<bool>& modes) {
    modes.push_back(task_->line.is_training());
  };
  trainer_->Add(
      On<EpochStart>([&](const EpochStart&, Control&) { note(epoch); }));
  trainer_->Add(On<StepStart>([&](const StepStart&, Control&) { note(step); }));
  trainer_->Add(
      On<EvalStart>([&](const EvalStart&, Control&) { note(eval_start); }));
  trainer_->Add(
      On<EvalStepEnd>([&](const EvalStepEnd&, Control&) { note(eval_step); }));
  trainer_->Train({.data = LinePoints(12),
                   .eval_data = LinePoints(4),
                   .length = Epochs(2),
                   .per_device_batch_size = 4,
                   .evaluate = Every(Batches(2))});
  EXPECT_THAT(epoch, ElementsAre(true, true));
  EXPECT_EQ(step.size(), 6);
  EXPECT_THAT(step, Each(true));
  EXPECT_THAT(eval_start, ElementsAre(false, false, false));
  EXPECT_EQ(eval_step.size(), 3);
  EXPECT_THAT(eval_step, Each(false));
}

// Also around an evaluation that a callback requested.
TEST_F(EvaluationTest, ModesAreSetAfterARequestedOne) {
  std::vector<bool> step;
  int evaluations = 0;
  trainer_->Add(On<StepStart>([&](const StepStart&, Control&) {
    step.push_back(task_->line.is_training());
  }));
  trainer_->Add(On<StepEnd>([&](const StepEnd& e, Control& control) {
    if (e.clock.batches() == 1) control.RequestEvaluation();
  }));
  trainer_->Add(On<EvalEnd>([&](const EvalEnd&, Control&) { ++evaluations; }));
  trainer_->Train({.data = LinePoints(12),
                   .eval_data = LinePoints(4),
                   .length = Epochs(1),
                   .per_device_batch_size = 4});
  EXPECT_EQ(evaluations, 2);
  EXPECT_THAT(step, ElementsAre(true, true, true));
}

// An EvalStep with a part of a TrainStep left in it would train on the data
// that it should judge by.
TEST_F(EvaluationTest, RefusesToTrain) {
  const auto error_of = [&](std::function<void(StepContext&)> act) {
    task_->in_eval = std::move(act);
    return ErrorOf<c10::ValueError>([&] {
      trainer_->Train({.data = LinePoints(8),
                       .eval_data = LinePoints(4),
                       .length = Epochs(1)});
    });
  };
  EXPECT_THAT(error_of([&](StepContext& step) { step.Backward(at::Tensor()); }),
              HasSubstr("EvalStep called Backward; evaluation does not train"));
  EXPECT_THAT(
      error_of([&](StepContext& step) { step.Update(task_->optimizer); }),
      HasSubstr("EvalStep called Update;"));
  EXPECT_THAT(error_of([&](StepContext& step) {
                step.StepSchedules(task_->optimizer);
              }),
              HasSubstr("EvalStep called StepSchedules;"));
}

}  // namespace
}  // namespace trainyard

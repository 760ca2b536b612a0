// The mistakes of the first day: each gets one message that says what was wrong
// and what to do.
#include <ATen/ops/empty.h>
#include <ATen/ops/mse_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "backends/make_backend.h"
#include "callbacks/stopping/early_stopping.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/error_message.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Losses = std::function<at::Tensor(const at::Tensor& outputs,
                                        const at::Tensor& target)>;

class LineTask final : public TaskOf<Example> {
 public:
  explicit LineTask(Losses loss) : loss_(std::move(loss)) {
    AddModel("line", line_.ptr());
    AddOptimizer("adamw", optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext&) override {
    if (loss_ == nullptr) return {};
    return {.loss = loss_(line_->forward(batch.input), batch.target)};
  }
  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    return TrainStep(batch, step);
  }

 private:
  TestLinear line_{3, 1};
  AdamW optimizer_{*line_, {}};
  Losses loss_;
};

std::string MessageOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::exception& e) {
    return ErrorMessage(e);
  }
  return "nothing was thrown";
}

std::string Trained(Losses loss, TrainOptions options = {}) {
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<LineTask>(std::move(loss)), *backend);
  if (options.data == nullptr) options.data = LinePoints(8);
  options.length = Epochs(1);
  std::string ending;
  const std::string message =
      MessageOf([&] { ending = trainer.Train(options).message; });
  return message == "nothing was thrown" ? "ended: " + ending : message;
}

at::Tensor Mse(const at::Tensor& outputs, const at::Tensor& target) {
  return at::mse_loss(outputs, target);
}

TEST(FirstErrorsTest, EmptyDataset) {
  EXPECT_THAT(
      MessageOf([] {
        MakeTensorDataset(Example{at::empty({0, 3}), at::empty({0, 1})});
      }),
      HasSubstr("TensorDataset: there are no samples"));
  struct Empty final : Dataset {
    int64_t size() const override { return 0; }
    AnyBatch Gather(const at::Tensor&) const override {
      return AnyBatch(Example{});
    }
  };
  const DatasetPtr empty = std::make_shared<Empty>();
  EXPECT_THAT(Trained(Mse, {.data = empty}),
              HasSubstr("the data is empty: it has no samples"));
  EXPECT_THAT(Trained(Mse, {.eval_data = empty}),
              HasSubstr("eval_data is empty"));
  EXPECT_THAT(Trained(Mse, {.eval_sets = {{"rare", empty}}}),
              HasSubstr("evaluation set \"rare\" is empty"));
}

// Not a mistake: one smaller batch.
TEST(FirstErrorsTest, BatchLargerThanTheDataset) {
  EXPECT_EQ(Trained(Mse, {.per_device_batch_size = 100}), "ended: ");
}

TEST(FirstErrorsTest, LossThatIsNoScalar) {
  EXPECT_THAT(Trained([](const at::Tensor& outputs, const at::Tensor&) {
                return outputs.pow(2);
              }),
              HasSubstr("the loss is of shape [8, 1]; it must be one number: "
                        "take its mean()"));
}

TEST(FirstErrorsTest, LossWithoutGradient) {
  EXPECT_THAT(Trained([](const at::Tensor& outputs, const at::Tensor& target) {
                return Mse(outputs.detach(), target);
              }),
              HasSubstr("the loss has no gradient"));
}

TEST(FirstErrorsTest, ModelWithoutParameters) {
  TestReLU relu;
  EXPECT_THAT(MessageOf([&] { AdamW optimizer(*relu, {}); }),
              HasSubstr("there are no parameters to train"));
}

TEST(FirstErrorsTest, NanLoss) {
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<LineTask>(
                      [](const at::Tensor& outputs, const at::Tensor& target) {
                        return Mse(outputs, target)
                            .mul(std::numeric_limits<double>::quiet_NaN());
                      }),
                  *backend);
  trainer.Add(TerminateOnNaN());
  const RunResult result =
      trainer.Train({.data = LinePoints(8), .length = Epochs(1)});
  EXPECT_EQ(result.ending, RunEnding::kStopped);
  EXPECT_THAT(result.message, HasSubstr("nan"));
}

TEST(FirstErrorsTest, EvaluationMetricThatNobodyMeasures) {
  LineRig rig;
  rig.trainer().Add(EarlyStopping({.metric = "eval_acuracy"}));
  EXPECT_THAT(MessageOf([&] {
                rig.trainer().Train({.data = LinePoints(8),
                                     .eval_data = LinePoints(4),
                                     .length = Epochs(1)});
              }),
              AllOf(HasSubstr("eval_acuracy"), HasSubstr("eval_loss")));
}

TEST(FirstErrorsTest, TaskThatReturnsNothing) {
  EXPECT_THAT(Trained(nullptr),
              HasSubstr("TrainStep returned no loss and did not call "
                        "Backward"));
}

TEST(FirstErrorsTest, SameCallbackTwice) {
  LineRig rig;
  rig.trainer().Add(TerminateOnNaN());
  EXPECT_THAT(MessageOf([&] { rig.trainer().Add(TerminateOnNaN()); }),
              HasSubstr("a TerminateOnNaN was added before; add it once"));
}

TEST(FirstErrorsTest, NoOptimizerAndOneTooMany) {
  class None final : public TaskOf<Example> {
    StepOutput TrainStep(const Example&, StepContext&) override { return {}; }
    StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
  };
  const auto backend = MakeBackend("sp");
  EXPECT_THAT(MessageOf([&] { Trainer t(std::make_unique<None>(), *backend); }),
              HasSubstr("there is no optimizer"));
  auto task = std::make_unique<LineTask>(Mse);
  Optimizer& own = *task->optimizers()[0].optimizer;
  EXPECT_THAT(MessageOf([&] { Trainer t(std::move(task), own, *backend); }),
              HasSubstr("optimizer \"adamw\" is the task's and is given to "
                        "the trainer, too"));
}

// Its weights would not be in any checkpoint.
TEST(FirstErrorsTest, ModelThatWasNotAdded) {
  class Forgetful final : public TaskOf<Example> {
   public:
    explicit Forgetful(bool add_one) {
      if (add_one) AddModel("first", first_.ptr());
      AddOptimizer("adamw", optimizer_);
    }

   private:
    StepOutput TrainStep(const Example& batch, StepContext&) override {
      return {.loss = Mse(second_->forward(first_->forward(batch.input)),
                          batch.target)};
    }
    StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
    TestModule first_ = TestLinear(3, 4), second_ = TestLinear(4, 1);
    AdamW optimizer_{{first_["weight"], first_["bias"], second_["weight"]}, {}};
  };
  const auto backend = MakeBackend("sp");
  for (const bool add_one : {false, true}) {
    Trainer trainer(std::make_unique<Forgetful>(add_one), *backend);
    EXPECT_THAT(
        MessageOf([&] {
          trainer.Train({.data = LinePoints(8), .length = Epochs(1)});
        }),
        AllOf(HasSubstr(add_one ? "optimizer \"adamw\" trains a parameter of "
                                  "shape [1, 4]"
                                : "the task has no model"),
              HasSubstr("AddModel(\"name\", model.ptr())")));
  }
}

// Its state would not be in any checkpoint.
TEST(FirstErrorsTest, OptimizerThatWasNotAdded) {
  class Forgetful final : public TaskOf<Example> {
   public:
    Forgetful() {
      AddModel("line", line_.ptr());
      AddOptimizer("first", first_);
    }

   private:
    StepOutput TrainStep(const Example& batch, StepContext& step) override {
      const at::Tensor loss = Mse(line_->forward(batch.input), batch.target);
      step.Backward(loss);
      step.Update(second_);
      return {.loss = loss};
    }
    StepOutput EvalStep(const Example&, StepContext&) override { return {}; }
    TestModule line_ = TestLinear(3, 1);
    AdamW first_{*line_, {}}, second_{*line_, {}};
  };
  const auto backend = MakeBackend("sp");
  Trainer trainer(std::make_unique<Forgetful>(), *backend);
  EXPECT_THAT(MessageOf([&] {
                trainer.Train({.data = LinePoints(8), .length = Epochs(1)});
              }),
              HasSubstr("AddOptimizer(\"name\", optimizer)"));
}

}  // namespace
}  // namespace trainyard

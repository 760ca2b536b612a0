// What cannot be captured is refused by name.
#include "trainer/loop/captured_step.h"

#include <ATen/Context.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/scalar_tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend_decorator.h"
#include "backends/make_backend.h"
#include "backends/own_stream.h"
#include "backends/step_graph.h"
#include "callbacks/callback.h"
#include "callbacks/callback_handler.h"
#include "callbacks/step_wrapper.h"
#include "tools/testing/error_of.h"
#include "trainer/accelerator.h"
#include "trainer/loop/step_runner.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/sgd.h"
#include "trainer/testing/line_rig.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using TrainStepFunction = std::function<StepOutput(
    const Example& batch, const at::Tensor& loss, StepContext& step)>;

// A line, with a training step of the test's own.
class LineTask final : public TaskOf<Example> {
 public:
  explicit LineTask(TrainStepFunction train = nullptr)
      : train_(std::move(train)) {
    AddModel("model", model_.ptr());
    AddOptimizer("adamw", optimizer);
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const at::Tensor loss = Loss(batch);
    return train_ ? train_(batch, loss, step) : StepOutput{.loss = loss};
  }
  StepOutput EvalStep(const Example& batch, StepContext&) override {
    return {.loss = Loss(batch)};
  }

 private:
  at::Tensor Loss(const Example& batch) const {
    return model_->forward(batch.input).sub(batch.target).square().mean();
  }
  TestLinear model_{3, 1};
  TrainStepFunction train_;

 public:
  AdamW optimizer{*model_, {.lr = 0.1}};
};

class Wrapper final : public Callback, public StepWrapper {};

class CapturedStepTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasStepGraph(DefaultDevice().type())) GTEST_SKIP() << "no graphs";
  }

  static TrainOptions Options() {
    return {
        .data = LinePoints(48), .length = Epochs(1), .capture_after_steps = 2};
  }
  static std::string ErrorOfTraining(
      const TrainStepFunction& train, const TrainOptions& options = Options(),
      const std::function<void(Trainer&)>& add = nullptr) {
    const auto backend = MakeBackend("sp");
    Trainer trainer(std::make_unique<LineTask>(train), *backend,
                    {.default_callbacks = false});
    if (add) add(trainer);
    return ErrorOf<c10::ValueError>([&] { trainer.Train(options); });
  }
};

TEST(CapturedStepOnTheCpuTest, IsRefused) {
  const auto backend = MakeBackend("sp", {.device = at::kCPU});
  LineTask task;
  Trainer trainer(task, *backend, {.default_callbacks = false});
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                trainer.Train({.data = LinePoints(8),
                               .length = Epochs(1),
                               .capture_after_steps = 1});
              }),
              AllOf(HasSubstr("steps on cpu cannot be captured"),
                    HasSubstr("without capture_after_steps")));
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                trainer.Train({.data = LinePoints(8),
                               .length = Epochs(1),
                               .capture_after_steps = 0});
              }),
              HasSubstr("capture_after_steps is 0"));
}

TEST_F(CapturedStepTest, ExampleOfTheHeader) {
  const std::unique_ptr<Backend> made = MakeBackend("sp");
  Backend& backend = *made;
  LineTask task;
  task.To(backend.device());
  AdamW& optimizer = task.optimizer;
  Control control;
  CallbackHandler handler(control);
  RunClock clock;
  const AnyBatch batch(Example{at::full({4, 3}, 1.0, backend.device()),
                               at::full({4, 1}, 5.0, backend.device())});
  CapturedStep captured({task, {&optimizer}, backend}, /*warmup_steps=*/3);
  const OwnStream stream(backend.device());
  StepRunner runner({.task = task,
                     .optimizers = {&optimizer},
                     .backend = backend,
                     .callbacks = handler,
                     .clock = clock,
                     .captured = &captured},
                    ClipNorm(1));
  const double first =
      runner.Run(batch, /*batches_left=*/1).loss.item<double>();
  for (int step = 0; step < 20; ++step) {
    runner.Run(batch, /*batches_left=*/1);
  }
  EXPECT_LT(runner.Run(batch, 1).loss.item<double>(), first / 2);
  EXPECT_EQ(clock.updates(), 22);
}

// Two models with an optimizer each, and a metric and outputs that a callback
// adds up.
class TwoModels final : public TaskOf<Example> {
 public:
  TwoModels() {
    AddModel("first", first_.ptr());
    AddModel("second", second_.ptr());
    AddOptimizer("first", first_optimizer_);
    AddOptimizer("second", second_optimizer_);
  }
  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const at::Tensor hidden = first_->forward(batch.input).tanh();
    const at::Tensor outputs = second_->forward(hidden);
    step.ForwardDone(outputs);
    const at::Tensor loss = outputs.sub(batch.target).square().mean();
    // Two losses of one batch.
    step.Backward(loss);
    step.Backward(first_->forward(batch.input).square().mean());
    return {.loss = loss, .metrics = {{"hidden", hidden.abs().mean()}}};
  }
  StepOutput EvalStep(const Example&, StepContext&) override { return {}; }

 private:
  TestLinear first_{3, 4}, second_{4, 1};
  SGD first_optimizer_{*first_, {.lr = 0.125, .momentum = 0.5}};
  AdamW second_optimizer_{*second_, {.lr = 0.0625}};
};

class OutputSum final : public Callback {
 public:
  void OnForwardEnd(const ForwardEnd& e, Control&) override {
    outputs_.push_back(e.outputs.detach());
  }
  void OnStepEnd(const StepEnd& e, Control&) override {
    outputs_.push_back(e.output.metrics[0].second.detach().view({1, 1}));
  }
  double Read() const { return at::cat(outputs_).sum().item<double>(); }
  size_t steps() const { return outputs_.size(); }

 private:
  std::vector<at::Tensor> outputs_;
};

TEST_F(CapturedStepTest, SeveralOptimizersMetricsAndOutputs) {
  const auto train = [](bool captured) {
    at::manual_seed(1);
    const auto backend = MakeBackend("sp");
    TwoModels task;
    Trainer trainer(task, *backend, {.default_callbacks = false});
    OutputSum& sum = trainer.Add(OutputSum());
    TrainOptions options = Options();
    if (!captured) options.capture_after_steps.reset();
    trainer.Train(options);
    std::vector<double> numbers = {sum.Read(),
                                   static_cast<double>(sum.steps())};
    for (const char* metric : {"train_loss", "train_hidden"}) {
      numbers.push_back(trainer.history().Latest(metric));
    }
    for (const NamedTensor& item : trainer.task().NamedTensors()) {
      numbers.push_back(item.tensor.sum().item<double>());
    }
    return numbers;
  };
  const std::vector<double> captured = train(true);
  EXPECT_EQ(captured, train(false));
  EXPECT_EQ(captured[1], 2 * 6);
}

TEST_F(CapturedStepTest, BackendsThatCannotAreRefused) {
  const auto backend = MakeBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
  LineTask task;
  task.To(backend->device());
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                CapturedStep({task, {&task.optimizer}, *backend}, 1);
              }),
              AllOf(HasSubstr("the backend sp-amp cannot be captured"),
                    HasSubstr("BFloat16")));
  // What it adds is not known.
  BackendDecorator decorated(MakeBackend("sp"));
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                CapturedStep({task, {&task.optimizer}, decorated}, 1);
              }),
              HasSubstr("the backend sp cannot be captured"));
}

TEST_F(CapturedStepTest, WindowsOfSeveralBatchesAreRefused) {
  TrainOptions options = Options();
  options.grad_accum_steps = 2;
  EXPECT_THAT(ErrorOfTraining(nullptr, options),
              AllOf(HasSubstr("an update has 2 batches"),
                    HasSubstr("grad_accum_steps")));
}

TEST_F(CapturedStepTest, CallbacksThatWrapStepsAreRefused) {
  EXPECT_THAT(ErrorOfTraining(nullptr, Options(),
                              [](Trainer& trainer) { trainer.Add(Wrapper()); }),
              HasSubstr("Wrapper wraps steps"));
}

TEST_F(CapturedStepTest, ATaskThatReadsTheHostIsRefused) {
  EXPECT_THAT(
      ErrorOfTraining([](const Example&, const at::Tensor& loss, StepContext&) {
        const double scale = loss.item<double>() > 1 ? 2 : 1;
        return StepOutput{.loss = loss.mul(scale)};
      }),
      HasSubstr("the forward and backward pass cannot be captured"));
}

TEST_F(CapturedStepTest, ATaskThatUpdatesItselfIsRefused) {
  const auto backend = MakeBackend("sp");
  LineTask* borrowed = nullptr;
  LineTask task([&](const Example&, const at::Tensor& loss, StepContext& step) {
    step.Backward(loss);
    step.Update(borrowed->optimizer);
    return StepOutput{.loss = loss};
  });
  borrowed = &task;
  Trainer trainer(task, *backend, {.default_callbacks = false});
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { trainer.Train(Options()); }),
              HasSubstr("cannot update in its TrainStep"));
}

TEST_F(CapturedStepTest, RandomNumbersOfTheHostAreRefused) {
  EXPECT_THAT(
      ErrorOfTraining([](const Example&, const at::Tensor& loss, StepContext&) {
        return StepOutput{.loss = loss.mul(at::rand({}))};
      }),
      HasSubstr("draws random numbers on the CPU"));
}

TEST_F(CapturedStepTest, MetricsOfTheHostAreRefused) {
  EXPECT_THAT(
      ErrorOfTraining([](const Example&, const at::Tensor& loss, StepContext&) {
        return StepOutput{.loss = loss,
                          .metrics = {{"one", at::scalar_tensor(1)}}};
      }),
      HasSubstr("the metric \"one\" is on cpu"));
}

TEST_F(CapturedStepTest, WeightsThatDifferAreRefused) {
  double weight = 0;
  EXPECT_THAT(ErrorOfTraining(
                  [&](const Example&, const at::Tensor& loss, StepContext&) {
                    return StepOutput{.loss = loss, .weight = ++weight};
                  }),
              HasSubstr("batches of one shape have the weights 1 and 2"));
}

}  // namespace
}  // namespace trainyard

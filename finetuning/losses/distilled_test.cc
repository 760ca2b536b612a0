#include "finetuning/losses/distilled.h"

#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <optional>

#include "finetuning/losses/mixed_targets.h"
#include "trainer/data/batch.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/task.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

// A step of no loop: the test itself runs backward and the optimizer.
class NoLoop final : public StepContext {
 public:
  const RunClock& clock() const override { return clock_; }
  Control& control() override { return control_; }
  void ForwardDone(const at::Tensor&) override { ++forwards; }
  void Backward(const at::Tensor&, std::optional<double>) override {}
  bool Update(Optimizer&, const Clip&) override { return false; }
  void StepSchedules(Optimizer&, StepOn) override {}
  int forwards = 0;

 private:
  RunClock clock_;
  Control control_;
};

TEST(DistilledTest, HeaderExample) {
  TestLinear student(4, 3), teacher(4, 3);
  const auto task = Distilled(
      student, [&](const at::Tensor& x) { return teacher->forward(x); },
      {.temperature = 4}, {{"accuracy", Accuracy()}});
  NoLoop step;
  const Example batch{at::randn({2, 4}), at::randint(3, {2}, at::kLong)};
  const StepOutput trained = task->TrainStep(AnyBatch(batch), step);
  const StepOutput evaluated = task->EvalStep(AnyBatch(batch), step);
  const at::Tensor outputs = student->forward(batch.input);
  EXPECT_TRUE(at::equal(
      trained.loss, DistillationLoss({.temperature = 4})(
                        outputs, teacher->forward(batch.input), batch.target)));
  EXPECT_TRUE(at::equal(evaluated.loss, CrossEntropy()(outputs, batch.target)));
  EXPECT_TRUE(evaluated.outputs.defined());
}

TEST(MixedTargetsTest, HeaderExample) {
  TestLinear model(4, 3);
  const auto task = Supervised(model, MixedCrossEntropy(0.1),
                               {{"accuracy", MixedAccuracy()}});
  NoLoop step;
  const at::Tensor input = at::randn({2, 4});
  const at::Tensor shares = at::randn({2, 3}).softmax(1);
  const StepOutput mixed =
      task->TrainStep(AnyBatch(Example{input, shares}), step);
  const StepOutput plain =
      task->EvalStep(AnyBatch(Example{input, shares.argmax(1)}), step);
  EXPECT_TRUE(mixed.loss.isfinite().item<bool>());
  EXPECT_EQ(plain.metrics.at(0).first, "accuracy");
}

// The labels carry no information; the student learns from the teacher only.
TEST(DistilledTest, TheStudentLearnsFromTheTeacher) {
  at::manual_seed(1);
  TestLinear teacher(8, 3);
  TestLinear student(8, 3);
  const at::Tensor x = at::randn({256, 8});
  const at::Tensor known = teacher->forward(x).argmax(1).detach();
  bool asked_with_gradients = false;
  const auto task =
      Distilled(student,
                [&](const at::Tensor& input) {
                  const at::Tensor logits = teacher->forward(input);
                  asked_with_gradients |= logits.requires_grad();
                  return logits.mul(10);
                },
                {.temperature = 2, .alpha = 1}, {{"accuracy", Accuracy()}});
  EXPECT_EQ(task->NamedTensors().size(), 2);
  AdamW optimizer(*student, {.lr = 0.05, .weight_decay = 0});
  NoLoop step;
  const AnyBatch batch(Example{x, known.mul(0)});
  for (int update = 0; update < 120; ++update) {
    task->TrainStep(batch, step).loss.backward();
    optimizer.step();
    optimizer.ZeroGrad();
  }
  EXPECT_EQ(step.forwards, 120);
  EXPECT_FALSE(asked_with_gradients);
  const StepOutput judged = task->EvalStep(AnyBatch(Example{x, known}), step);
  EXPECT_EQ(judged.metrics.at(0).first, "accuracy");
  EXPECT_GT(judged.metrics.at(0).second.item<double>(), 0.95);
}

TEST(DistilledTest, RejectsAnEmptyTeacher) {
  EXPECT_THROW(Distilled(TestLinear(2, 2), nullptr), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

#include "finetuning/losses/distilled.h"

#include <ATen/Context.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <optional>

#include "trainer/data/batch.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

// A loop's, which does nothing: the test does it.
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

// The labels say nothing; what is learnt comes from the teacher.
TEST(DistilledTest, TheStudentLearnsWhatTheTeacherKnows) {
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

TEST(DistilledTest, NeedsATeacher) {
  EXPECT_THROW(Distilled(TestLinear(2, 2), nullptr), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

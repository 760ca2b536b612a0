#include "finetuning/losses/distilled.h"

#include <ATen/Context.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include "backends/make_backend.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/optim/adamw.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

// The labels say nothing; what is learnt comes from the teacher.
TEST(DistilledTest, TheStudentLearnsWhatTheTeacherKnows) {
  at::manual_seed(1);
  torch::nn::Linear teacher(8, 3);
  torch::nn::Linear student(8, 3);
  const at::Tensor x = at::randn({256, 8});
  const at::Tensor known = teacher->forward(x).argmax(1).detach();
  AdamW optimizer(*student, {.lr = 0.05, .weight_decay = 0});
  const auto backend = MakeBackend("sp");
  bool asked_with_gradients = false;
  Trainer trainer(
      Distilled(student,
                [&](const at::Tensor& input) {
                  const at::Tensor logits = teacher->forward(input);
                  asked_with_gradients |= logits.requires_grad();
                  return logits * 10;
                },
                {.temperature = 2, .alpha = 1}, {{"accuracy", Accuracy()}}),
      optimizer, *backend);
  trainer.Train({.data = MakeTensorDataset(Example{x, known.mul(0)}),
                 .eval_data = MakeTensorDataset(Example{x, known}),
                 .num_epochs = 30,
                 .per_device_batch_size = 64});
  EXPECT_GT(trainer.history().Latest("eval_accuracy"), 0.95);
  EXPECT_FALSE(asked_with_gradients);
  EXPECT_EQ(trainer.task().State().size(), 2);
}

TEST(DistilledTest, NeedsATeacher) {
  EXPECT_THROW(Distilled(torch::nn::Linear(2, 2), nullptr), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

#include "finetuning/losses/distillation.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "finetuning/losses/mixed_targets.h"
#include "tools/testing/error_of.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TEST(DistillationLossTest, HeaderExample) {
  TestLinear student(4, 3), teacher(4, 3);
  const at::Tensor x = at::randn({2, 4});
  const at::Tensor labels = at::tensor({0, 2}, at::kLong);
  const DistillationLoss loss({.temperature = 4, .alpha = 0.9});
  loss(student->forward(x), teacher->forward(x).detach(), labels).backward();
  EXPECT_TRUE(student["weight"].grad().defined());
  EXPECT_FALSE(teacher["weight"].grad().defined());
}

TEST(DistillationLossTest, IgnoredRowsAreInNeitherTerm) {
  const at::Tensor student = at::randn({2, 3, 5});
  const at::Tensor teacher = at::randn({2, 3, 5});
  at::Tensor target = at::randint(5, {2, 3}, at::kLong);
  const at::Tensor all = DistillationLoss()(
      student.flatten(0, 1).slice(0, 0, 4),
      teacher.flatten(0, 1).slice(0, 0, 4), target.flatten().slice(0, 0, 4));
  target[1][1] = -100;
  target[1][2] = -100;
  EXPECT_TRUE(at::allclose(DistillationLoss()(student, teacher, target), all));
}

TEST(DistillationLossTest, ACertainTeacherGivesFiniteLossAndGradients) {
  const at::Tensor student = at::randn({2, 3}).requires_grad_();
  at::Tensor teacher = at::zeros({2, 3});
  teacher.select(1, 0).fill_(1000);
  const at::Tensor loss = DistillationLoss({.temperature = 1})(
      student, teacher, at::tensor({0, 1}, at::kLong));
  loss.backward();
  EXPECT_TRUE(student.grad().isfinite().all().item<bool>());
  EXPECT_TRUE(loss.isfinite().item<bool>());
}

TEST(DistillationLossTest, TheTeacherGetsNoGradients) {
  const at::Tensor student = at::randn({2, 3}).requires_grad_();
  const at::Tensor teacher = at::randn({2, 3}).requires_grad_();
  DistillationLoss()(student, teacher, at::tensor({0, 1}, at::kLong))
      .backward();
  EXPECT_FALSE(teacher.grad().defined());
  // Equal logits leave only the labels' term.
  EXPECT_NEAR(DistillationLoss({.alpha = 1})(student, student,
                                             at::tensor({0, 1}, at::kLong))
                  .item<double>(),
              0, 1e-6);
}

TEST(DistillationLossTest, RejectsInvalidOptionsAndShapes) {
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([] { DistillationLoss({.temperature = 0}); }),
      HasSubstr("temperature is 0"));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([] { DistillationLoss({.alpha = 1.5}); }),
      HasSubstr("alpha is 1.5"));
  EXPECT_THAT(ErrorOf<c10::ValueError>([] {
                DistillationLoss()(at::zeros({2, 3}), at::zeros({2, 4}),
                                   at::zeros({2}, at::kLong));
              }),
              HasSubstr("[2, 3] and the teacher's [2, 4]"));
  EXPECT_THAT(ErrorOf<c10::ValueError>([] {
                DistillationLoss()(at::zeros({2, 3}), at::zeros({2, 3}),
                                   at::zeros({3}, at::kLong));
              }),
              HasSubstr("the target is [3]"));
}

TEST(MixedTargetsTest, AccuracyUsesTheMostProbableClass) {
  const at::Tensor outputs =
      at::tensor({3.0F, 1.0F, 0.0F, 0.0F, 1.0F, 2.0F}).view({2, 3});
  const at::Tensor shares =
      at::tensor({0.6F, 0.4F, 0.0F, 0.5F, 0.3F, 0.2F}).view({2, 3});
  EXPECT_EQ(MixedAccuracy()(outputs, shares).item<double>(), 0.5);
  EXPECT_EQ(
      MixedAccuracy()(outputs, at::tensor({0, 2}, at::kLong)).item<double>(),
      1);
}

TEST(MixedTargetsTest, RejectsInvalidTargets) {
  for (const at::Tensor& bad : {at::zeros({2}), at::zeros({2, 3}, at::kLong),
                                at::zeros({2, 4}), at::zeros({3}, at::kLong)}) {
    EXPECT_THAT(ErrorOf<c10::ValueError>(
                    [&] { MixedCrossEntropy()(at::zeros({2, 3}), bad); }),
                HasSubstr("for outputs of [2, 3]"));
  }
  EXPECT_THAT(ErrorOf<c10::ValueError>([] { MixedCrossEntropy(2); }),
              HasSubstr("is 2"));
}

}  // namespace
}  // namespace trainyard

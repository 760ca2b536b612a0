#include "callbacks/monitors/gradient_norm.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "callbacks/callback_handler.h"
#include "callbacks/testing/fake_run.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class GradientNormTest : public ::testing::Test {
 protected:
  // Gradients of length `norm`: 3/5 of it in one tensor, 4/5 in another.
  void SetGradients(double norm) {
    a_.mutable_grad() = at::full({1}, 0.6 * norm);
    b_.mutable_grad() = at::full({4}, 0.4 * norm);
  }

  at::Tensor a_ = at::zeros({1}).requires_grad_();
  at::Tensor b_ = at::zeros({4}).requires_grad_();
  AdamW optimizer_{std::vector<at::Tensor>{a_, b_}};
};

TEST_F(GradientNormTest, RecordsMeanAndMaximumOfEachEpoch) {
  // 1, 2, 3, 4 | 5, 6, 7, 8
  FakeRun run(
      {.backward = [this, batch = 0]() mutable { SetGradients(++batch); }});
  run.Add(GradientNorm(optimizer_));
  run.Play();
  const auto mean = run.history().Values("grad_norm_mean");
  const auto max = run.history().Values("grad_norm_max");
  ASSERT_EQ(mean.size(), 2);
  EXPECT_FLOAT_EQ(mean[0], 2.5);
  EXPECT_FLOAT_EQ(mean[1], 6.5);
  EXPECT_FLOAT_EQ(max[0], 4);
  EXPECT_FLOAT_EQ(max[1], 8);
}

TEST_F(GradientNormTest, IsThatOfTheGradientTheUpdateTakes) {
  Control control;
  CallbackHandler handler(control);
  handler.Add(GradientNorm(optimizer_));
  RunConfig config;
  StepState state;
  InMemoryRunHistory history;
  handler.Fire(EpochStart{config, state, 1});
  SetGradients(7);
  handler.Fire(GradientsReady{state, /*divisor=*/0.7});
  handler.Fire(TrainEpochEnd{state, history});
  EXPECT_FLOAT_EQ(history.Latest("grad_norm_mean"), 10);
}

TEST_F(GradientNormTest, NanIsNotHidden) {
  FakeRun run({.num_epochs = 1, .backward = [this, batch = 0]() mutable {
                 SetGradients(++batch == 2
                                  ? std::numeric_limits<double>::quiet_NaN()
                                  : 1);
               }});
  run.Add(GradientNorm(optimizer_));
  run.Play();
  EXPECT_TRUE(std::isnan(run.history().Latest("grad_norm_mean")));
  EXPECT_TRUE(std::isnan(run.history().Latest("grad_norm_max")));
}

TEST_F(GradientNormTest, WithoutGradientsThereIsNothingToRecord) {
  FakeRun run;
  run.Add(GradientNorm(optimizer_));
  run.Play();
  EXPECT_THAT(run.history().Names(), ElementsAre("eval_loss", "train_loss"));
}

}  // namespace
}  // namespace trainyard

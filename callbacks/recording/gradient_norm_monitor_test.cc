#include "callbacks/recording/gradient_norm_monitor.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "callbacks/callback_handler.h"
#include "callbacks/testing/fake_run.h"
#include "trainer/optim/adamw.h"
#include "trainer/optim/clip.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class GradientNormMonitorTest : public ::testing::Test {
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

TEST_F(GradientNormMonitorTest, RecordsMeanAndMaximumOfEachEpoch) {
  // 1, 2, 3, 4 | 5, 6, 7, 8
  FakeRun run(
      {.backward = [this, batch = 0]() mutable { SetGradients(++batch); }});
  run.Add(GradientNormMonitor(optimizer_));
  run.Play();
  const auto mean = run.history().Values("grad_norm_mean");
  const auto max = run.history().Values("grad_norm_max");
  ASSERT_EQ(mean.size(), 2);
  EXPECT_FLOAT_EQ(mean[0], 2.5);
  EXPECT_FLOAT_EQ(mean[1], 6.5);
  EXPECT_FLOAT_EQ(max[0], 4);
  EXPECT_FLOAT_EQ(max[1], 8);
}

// Every program with a trainer includes clip.h too, which has GradientNorm.
TEST_F(GradientNormMonitorTest, HeaderExampleCompilesBesideClip) {
  FakeRun run({.num_epochs = 1, .backward = [this] { SetGradients(3); }});
  FakeRun& trainer = run;
  AdamW& optimizer = optimizer_;
  trainer.Add(GradientNormMonitor(optimizer));
  run.Play();
  EXPECT_FLOAT_EQ(run.history().Latest("grad_norm_max"),
                  GradientNorm(optimizer.Gradients()).item<float>());
}

TEST_F(GradientNormMonitorTest, IsThatOfTheGradientTheUpdateTakes) {
  Control control;
  CallbackHandler handler(control);
  handler.Add(GradientNormMonitor(optimizer_));
  RunConfig config;
  RunClock clock;
  InMemoryRunHistory history;
  handler.Fire(EpochStart{config, clock, 1});
  SetGradients(7);
  handler.Fire(GradientsReady{clock, /*divisor=*/0.7});
  handler.Fire(TrainEpochEnd{clock, history});
  EXPECT_FLOAT_EQ(history.Latest("grad_norm_mean"), 10);
}

TEST_F(GradientNormMonitorTest, NanIsNotHidden) {
  FakeRun run({.num_epochs = 1, .backward = [this, batch = 0]() mutable {
                 SetGradients(++batch == 2
                                  ? std::numeric_limits<double>::quiet_NaN()
                                  : 1);
               }});
  run.Add(GradientNormMonitor(optimizer_));
  run.Play();
  EXPECT_TRUE(std::isnan(run.history().Latest("grad_norm_mean")));
  EXPECT_TRUE(std::isnan(run.history().Latest("grad_norm_max")));
}

TEST_F(GradientNormMonitorTest, WithoutGradientsThereIsNothingToRecord) {
  FakeRun run;
  run.Add(GradientNormMonitor(optimizer_));
  run.Play();
  EXPECT_THAT(run.history().Names(), ElementsAre("eval_loss", "train_loss"));
}

}  // namespace
}  // namespace trainyard

#include "callbacks/stopping/terminate_on_nan.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "callbacks/testing/fake_run.h"
#include "trainer/data/batch.h"
#include "trainer/optim/adamw.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A loss of 1, but for one batch.
std::function<double(int64_t)> OnesBut(int64_t odd_one, double loss) {
  return [=](int64_t batch) { return batch == odd_one ? loss : 1; };
}

TEST(TerminateOnNaNTest, HeaderExample) {
  FakeRun run;
  run.Add(TerminateOnNaN());
  EXPECT_EQ(run.Play(), RunEnding::kFinished);
}

TEST(TerminateOnNaNTest, StopsAfterTheBatchWhoseLossIsNotFinite) {
  FakeRun nan({.loss = OnesBut(6, kNan)});
  nan.Add(TerminateOnNaN());
  EXPECT_EQ(nan.Play(), RunEnding::kStopped);
  EXPECT_EQ(nan.message(), "loss is nan in epoch 2, batch 2");
  EXPECT_EQ(nan.clock().epoch_batches(), 2);

  FakeRun infinite({.loss = OnesBut(1, -kInf)});
  infinite.Add(TerminateOnNaN());
  EXPECT_EQ(infinite.Play(), RunEnding::kStopped);
  EXPECT_EQ(infinite.message(), "loss is -inf in epoch 1, batch 1");
}

TEST(TerminateOnNaNTest, LossOfAMaskedBatchIsIgnored) {
  Control control;
  TerminateOnNaN callback;
  const RunClock clock;
  const AnyBatch batch(Example{at::zeros({1}), at::zeros({1})});
  StepOutput output{.loss = at::full({}, kNan), .weight = 0};
  callback.OnLossEnd({clock, batch, output}, control);
  EXPECT_FALSE(control.stop_requested());
  output.weight = 1;
  callback.OnLossEnd({clock, batch, output}, control);
  EXPECT_TRUE(control.stop_requested());
}

TEST(TerminateOnNaNTest, StopsWhenAnEvaluationIsNotFinite) {
  FakeRun run({.num_epochs = 3, .eval = [](int64_t epoch) {
                 return Metrics{{"eval_loss", epoch == 2 ? kInf : 1}};
               }});
  run.Add(TerminateOnNaN());
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.message(),
            "loss is inf in evaluation \"eval\" after 8 updates, batch 1");
}

TEST(TerminateOnNaNTest, ChecksSeveralBatchesTogether) {
  FakeRun run({.batches_per_epoch = 10, .loss = OnesBut(4, kNan)});
  run.Add(TerminateOnNaN({.every_batches = 3}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.message(), "a loss is not finite in epoch 1, batches 4 to 6");

  // Batch 10 is the first of a group that the epoch cuts short.
  FakeRun last({.batches_per_epoch = 10, .loss = OnesBut(10, kNan)});
  last.Add(TerminateOnNaN({.every_batches = 3}));
  EXPECT_EQ(last.Play(), RunEnding::kStopped);
  EXPECT_EQ(last.message(), "loss is nan in epoch 1, batch 10");
}

// A sum that is still on its way from the device at the end of the epoch.
TEST(TerminateOnNaNTest, TheEndOfAnEpochHidesNoLoss) {
  FakeRun run({.batches_per_epoch = 3, .loss = OnesBut(2, kNan)});
  run.Add(TerminateOnNaN({.every_batches = 3}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.message(), "a loss is not finite in epoch 1, batches 1 to 3");
  EXPECT_EQ(run.clock().batches(), 3);
}

TEST(TerminateOnNaNTest, EvaluationWithinAnEpochDoesNotHideALoss) {
  // The loss of batch 2 waits to be looked at while batches are evaluated.
  FakeRun run({.batches_per_epoch = 4,
               .eval_within_epoch_at = 2,
               .loss = OnesBut(2, kNan)});
  run.Add(TerminateOnNaN({.every_batches = 3}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.message(), "a loss is not finite in epoch 1, batches 1 to 3");
}

class GradientsTest : public ::testing::Test {
 protected:
  // A run whose gradient of batch 3 is `odd_one` in one place.
  FakeRun MakeRun(float odd_one) {
    return FakeRun({.backward = [this, odd_one, batch = 0]() mutable {
      weight_.mutable_grad() = at::zeros({3});
      if (++batch == 3) weight_.mutable_grad()[1] = odd_one;
    }});
  }

  at::Tensor weight_ = at::zeros({3}).requires_grad_();
  AdamW optimizer_{std::vector<at::Tensor>{weight_}};
};

TEST_F(GradientsTest, AreLookedAtIfAskedTo) {
  FakeRun run = MakeRun(kInf);
  run.Add(TerminateOnNaN({.gradients = &optimizer_}));
  EXPECT_EQ(run.Play(), RunEnding::kStopped);
  EXPECT_EQ(run.message(), "a gradient is not finite in epoch 1, batch 3");
}

TEST_F(GradientsTest, AreNotLookedAtOtherwise) {
  FakeRun run = MakeRun(kInf);
  run.Add(TerminateOnNaN());
  EXPECT_EQ(run.Play(), RunEnding::kFinished);
}

TEST(TerminateOnNaNTest, RefusesBadOptionsByName) {
  try {
    TerminateOnNaN callback({.every_batches = 0});
    FAIL() << "accepted";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(), HasSubstr("TerminateOnNaN: every_batches is 0"));
  }
}

}  // namespace
}  // namespace trainyard

#include "callbacks/printing/progress_bar.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "callbacks/callback_handler.h"
#include "callbacks/testing/fake_run.h"
#include "tools/testing/memory_output.h"
#include "tracking/run_history.h"
#include "trainer/data/batch.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A run by hand: two epochs of 4 batches, one second each.
class ProgressBarTest : public ::testing::Test {
 protected:
  ProgressBarTest() { setenv("LC_ALL", "C", 1); }

  ProgressBarOptions Options(bool terminal) {
    return {.output = output_.file(),
            .force_terminal = terminal,
            .clock = [this] { return now_; }};
  }

  std::string Written() { return output_.Written(); }

  void Step(const StepOutput& output) {
    now_ += 1;
    clock_.CountBatch(6);
    handler_.Fire(StepEnd{clock_, batch_, output});
  }

  void EvalStep(const StepOutput& output) {
    now_ += 1;
    handler_.Fire(EvalStepEnd{clock_, batch_, output, 0});
  }

  const StepOutput output_of_step_{
      .loss = at::full({}, 0.5),
      .weight = 3,
      .metrics = {{"accuracy", at::full({}, 0.75)}}};
  const AnyBatch batch_{Example{at::ones({3}), at::ones({3})}};
  const RunConfig config_{.num_epochs = 2};
  const std::string eval_ = "eval";
  RunClock clock_{{.num_processes = 2}};
  InMemoryRunHistory history_;
  Control control_;
  CallbackHandler handler_{control_};
  double now_ = 1000;
  MemoryOutput output_;
};

TEST_F(ProgressBarTest, HeaderExample) {
  ProgressBar& bar = handler_.Add(ProgressBar());
  EXPECT_LT(bar.priority(), 0);
  EXPECT_EQ(bar.name(), "ProgressBar");
}

TEST_F(ProgressBarTest, DrawsEpochsWithTheLossOfTheBatchAndClearsThem) {
  handler_.Add(ProgressBar(Options(/*terminal=*/true)));
  clock_.EndEpoch();
  handler_.Fire(EpochStart{config_, clock_, 4});
  EXPECT_THAT(Written(), StartsWith("\rEpoch 2/2   0%"));
  Step(output_of_step_);
  // Six samples: both processes count.
  EXPECT_THAT(Written(),
              EndsWith("1/4  6.0 samples/s  ETA 0:03  loss 0.5000\x1b[K"));
  history_.Update("train_loss", 0.25);
  handler_.Fire(TrainEpochEnd{clock_, history_});
  EXPECT_EQ(Written(), "\r\x1b[K");
}

TEST_F(ProgressBarTest, DrawsEvaluationsOnTheSameLine) {
  handler_.Add(ProgressBar(Options(/*terminal=*/true)));
  handler_.Fire(EpochStart{config_, clock_, 4});
  handler_.Fire(TrainEpochEnd{clock_, history_});
  Written();
  now_ += 1;
  handler_.Fire(EvalStart{clock_, eval_, 2, FakeBackend()});
  EXPECT_THAT(Written(), StartsWith("\rEpoch 1/2 eval   0%"));
  EvalStep(output_of_step_);
  EXPECT_THAT(Written(), HasSubstr("1/2"));
  handler_.Fire(EvalEnd{clock_, eval_, {}});
  EXPECT_EQ(Written(), "\r\x1b[K");
}

TEST_F(ProgressBarTest, ClearsTheLineWhenARunStopsOrFails) {
  handler_.Add(ProgressBar(Options(/*terminal=*/true)));
  handler_.Fire(EpochStart{config_, clock_, 4});
  Step(output_of_step_);
  Written();
  const std::string reason = "enough";
  handler_.Fire(RunStopped{clock_, reason});
  EXPECT_EQ(Written(), "\r\x1b[K");

  now_ += 1;
  handler_.Fire(EpochStart{config_, clock_, 4});
  Written();
  handler_.FireToAll(RunEnd{clock_, history_, RunEnding::kError, reason});
  EXPECT_EQ(Written(), "\r\x1b[K");
}

TEST_F(ProgressBarTest, PlainLinesEndWithTheMeansOfThePass) {
  handler_.Add(ProgressBar(Options(/*terminal=*/false)));
  handler_.Fire(EpochStart{config_, clock_, 4});
  for (int i = 0; i < 4; ++i) Step(output_of_step_);
  history_.Update("train_loss", 0.25);
  handler_.Fire(TrainEpochEnd{clock_, history_});
  EXPECT_EQ(
      Written(),
      "Epoch 1/2: 4/4 batches (100%), 6.0 samples/s, in 0:04, loss 0.2500\n");

  clock_.EndEpoch();
  handler_.Fire(EvalStart{clock_, eval_, 2, FakeBackend()});
  for (int i = 0; i < 2; ++i) EvalStep(output_of_step_);
  handler_.Fire(
      EvalEnd{clock_, eval_, {{"eval_accuracy", 0.9}, {"eval_loss", 0.125}}});
  EXPECT_EQ(Written(),
            "Epoch 1/2 eval: 2/2 batches (100%), 6.0 samples/s, in 0:02, "
            "accuracy 0.9000, loss 0.1250\n");
}

TEST_F(ProgressBarTest, EpochContinuesAfterAnEvaluationWithinIt) {
  handler_.Add(ProgressBar(Options(/*terminal=*/true)));
  handler_.Fire(EpochStart{config_, clock_, 4});
  Step(output_of_step_);
  handler_.Fire(EvalStart{clock_, eval_, 2, FakeBackend()});
  for (int i = 0; i < 2; ++i) EvalStep(output_of_step_);
  handler_.Fire(EvalEnd{clock_, eval_, {}});
  Written();
  Step(output_of_step_);
  EXPECT_THAT(Written(),
              EndsWith("2/4  6.0 samples/s  ETA 0:02  loss 0.5000\x1b[K"));
}

TEST_F(ProgressBarTest, AnEvaluationOutsideOfARunHasNoEpoch) {
  handler_.Add(ProgressBar(Options(/*terminal=*/false)));
  handler_.Fire(EpochStart{config_, clock_, 4});
  const std::string nothing;
  handler_.FireToAll(RunEnd{clock_, history_, RunEnding::kFinished, nothing});
  Written();
  handler_.Fire(EvalStart{clock_, eval_, 2, FakeBackend()});
  handler_.Fire(EvalEnd{clock_, eval_, {}});
  EXPECT_THAT(Written(), StartsWith("eval: "));
}

TEST_F(ProgressBarTest, ReadsOnlyTensorsThatItDraws) {
  handler_.Add(ProgressBar(Options(/*terminal=*/true)));
  handler_.Fire(EpochStart{config_, clock_, 4});
  // A tensor with no memory behind it: reading it throws.
  const StepOutput unreadable{.loss = at::ones({}, at::device(at::kMeta)),
                              .weight = 3};
  handler_.Fire(StepEnd{clock_, batch_, unreadable});
  EXPECT_THROW(Step(unreadable), CallbackError);
}

}  // namespace
}  // namespace trainyard

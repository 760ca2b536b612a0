#include "trainer/step_state.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(StepStateTest, HeaderExample) {
  StepState state{.grad_accum_steps = 4};
  const bool update = state.IsGradAccumBoundary(/*is_last_batch=*/false);
  state.IncrementBatch({.batch_size = 32, .did_optimizer_step = update});
  EXPECT_FALSE(update);
  EXPECT_EQ(
      state,
      (StepState{.batch_idx = 1, .samples_seen = 32, .grad_accum_steps = 4}));
}

TEST(StepStateTest, StartsAtZeroWithOneProcessAndNoAccumulation) {
  const StepState state;
  EXPECT_EQ(state.batch_idx, 0);
  EXPECT_EQ(state.optimizer_step, 0);
  EXPECT_EQ(state.samples_seen, 0);
  EXPECT_EQ(state.epoch, 0);
  EXPECT_EQ(state.grad_accum_steps, 1);
  EXPECT_EQ(state.num_processes, 1);
}

TEST(StepStateTest, BoundaryIsEveryWindowAndTheLastBatch) {
  StepState state{.grad_accum_steps = 3};
  std::string boundaries;
  for (int batch = 0; batch < 8; ++batch) {
    boundaries += state.IsGradAccumBoundary(batch == 7) ? 'x' : '.';
    state.IncrementBatch({.batch_size = 1});
  }
  EXPECT_EQ(boundaries, "..x..x.x");
}

TEST(StepStateTest, SamplesCountOverAllProcesses) {
  StepState state{.num_processes = 4};
  state.IncrementBatch({.batch_size = 8, .did_optimizer_step = true});
  EXPECT_EQ(state.samples_seen, 32);
  EXPECT_EQ(state.optimizer_step, 1);
}

TEST(StepStateTest, SkippedUpdateDoesNotCount) {
  StepState state;
  state.IncrementBatch({.batch_size = 8, .did_optimizer_step = false});
  EXPECT_EQ(state.optimizer_step, 0);
  EXPECT_EQ(state.samples_seen, 8);
}

TEST(StepStateTest, EvaluationOnlyAdvancesTheBatch) {
  StepState state;
  state.IncrementBatch(
      {.batch_size = 8, .did_optimizer_step = true, .is_training = false});
  EXPECT_EQ(state, (StepState{.batch_idx = 1}));
}

TEST(StepStateTest, ResetEpochKeepsTheRunsCounters) {
  StepState state{
      .batch_idx = 9, .optimizer_step = 3, .samples_seen = 90, .epoch = 1};
  state.ResetEpoch();
  EXPECT_EQ(state,
            (StepState{.optimizer_step = 3, .samples_seen = 90, .epoch = 1}));
}

}  // namespace
}  // namespace trainyard

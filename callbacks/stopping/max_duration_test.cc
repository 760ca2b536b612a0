#include "callbacks/stopping/max_duration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "callbacks/testing/fake_run.h"

namespace trainyard {
namespace {

// Three epochs of 4 batches, each of 8 samples and 0.5 s, two batches per
// update; an evaluation takes 0.5 s.
struct Case {
  std::string name;
  Duration length;
  int64_t batches;
};

class MaxDurationTest : public ::testing::TestWithParam<Case> {};

TEST_P(MaxDurationTest, StopsTheRunThere) {
  FakeRun run({.num_epochs = 3, .grad_accum_steps = 2});
  run.Add(MaxDuration(GetParam().length));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run.Play(), RunEnding::kStopped);
    EXPECT_EQ(run.clock().batches(), GetParam().batches);
    EXPECT_EQ(run.message(),
              "the run has lasted " + ToString(GetParam().length));
  }
}

INSTANTIATE_TEST_SUITE_P(Units, MaxDurationTest,
                         ::testing::Values(Case{"Seconds", Seconds(3.6), 7},
                                           Case{"Batches", Batches(3), 3},
                                           Case{"Updates", Updates(3), 6},
                                           Case{"Samples", Samples(17), 3},
                                           Case{"Epochs", Epochs(2), 8}),
                         [](const auto& tested) { return tested.param.name; });

// The first epoch of a run, then the rest in another process.
TEST_P(MaxDurationTest, AResumedRunCountsFromItsFirstStart) {
  FakeRun first({.num_epochs = 1, .grad_accum_steps = 2});
  first.Play();
  FakeRun rest({.num_epochs = 3, .grad_accum_steps = 2});
  rest.Add(MaxDuration(GetParam().length));
  EXPECT_EQ(rest.PlayResumed(first.clock()), RunEnding::kStopped);
  // The evaluation after the first epoch took half a second, which is not on
  // the clock of the checkpoint.
  const int64_t not_counted = GetParam().length.unit == TrainUnit::kSeconds;
  EXPECT_EQ(rest.clock().batches(),
            std::max<int64_t>(GetParam().batches + not_counted, 4));
}

TEST_P(MaxDurationTest, OrFromWhereItWasResumed) {
  FakeRun first({.num_epochs = 1, .grad_accum_steps = 2});
  first.Play();
  FakeRun rest({.num_epochs = 4, .grad_accum_steps = 2});
  rest.Add(MaxDuration(GetParam().length, {.of_process = true}));
  EXPECT_EQ(rest.PlayResumed(first.clock()), RunEnding::kStopped);
  EXPECT_EQ(rest.clock().batches(), 4 + GetParam().batches);
}

TEST(MaxDurationFactsTest, HeaderExample) {
  FakeRun run;
  run.Add(MaxDuration(Seconds(3600)));
  EXPECT_EQ(run.Play(), RunEnding::kFinished);
  MaxDuration(Seconds(3600), {.of_process = true});
}

TEST(MaxDurationFactsTest, RefusesALengthOfNothing) {
  EXPECT_THROW(MaxDuration(Seconds(0)), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

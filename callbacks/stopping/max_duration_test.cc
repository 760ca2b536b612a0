#include "callbacks/stopping/max_duration.h"

#include <gtest/gtest.h>

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
  MaxDuration& limit =
      run.Add(MaxDuration(GetParam().length, {.clock = run.clock()}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run.Play(), RunEnding::kStopped);
    EXPECT_EQ(limit.progress().batches, GetParam().batches);
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

TEST(MaxDurationFactsTest, HeaderExample) {
  FakeRun run;
  run.Add(MaxDuration(Seconds(3600)));
  EXPECT_EQ(run.Play(), RunEnding::kFinished);
}

TEST(MaxDurationFactsTest, RefusesALengthOfNothing) {
  EXPECT_THROW(MaxDuration(Seconds(0)), std::invalid_argument);
  EXPECT_THROW(MaxDuration(Seconds(1), {.clock = nullptr}),
               std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

#include "callbacks/recording/timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "callbacks/testing/fake_run.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Epochs of 4 batches of 0.5 s; evaluations of 2 batches of 0.25 s, one within
// each epoch and one at its end.
TEST(TimerTest, TellsTrainingFromEvaluation) {
  FakeRun run({.eval_within_epoch_at = 2});
  Timer timer({.clock = run.seconds()});
  run.Add(timer);
  EXPECT_EQ(timer.seconds(), 0);
  for (int i = 0; i < 2; ++i) {
    run.Play();
    EXPECT_THAT(run.history().Values("train_seconds"), ElementsAre(2, 2));
    EXPECT_THAT(run.history().Values("eval_seconds"), ElementsAre(1, 1));
    EXPECT_EQ(timer.seconds(), 6);
  }
}

TEST(TimerTest, RunsOnDuringARun) {
  FakeRun run;
  Timer timer({.clock = run.seconds()});
  run.Add(timer);
  std::vector<double> seconds;
  run.Add(On<EpochEnd>(
      [&](const EpochEnd&, Control&) { seconds.push_back(timer.seconds()); }));
  run.Play();
  EXPECT_THAT(seconds, ElementsAre(2.5, 5));
  EXPECT_THROW(Timer({.clock = nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

#include "trainer/run_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

// A clock of its own.
struct Hand {
  double now = 100;
  RunClockOptions Options(int64_t accum = 1) {
    return {.grad_accum_steps = accum,
            .total_batch_size = 8,
            .seconds = [this] { return now; }};
  }
};

// One epoch of batches of 8 samples and 2 s each, with an update per batch.
void RunEpoch(RunClock& clock, Hand& hand, int64_t batches) {
  clock.StartEpoch();
  for (int64_t i = 0; i < batches; ++i) {
    clock.StartBatch();
    hand.now += 2;
    clock.CountUpdate();
    clock.CountBatch(8);
  }
}

TEST(RunClockTest, HeaderExample) {
  int reports = 0;
  const auto Report = [&] { ++reports; };
  RunClock clock({.grad_accum_steps = 4});
  clock.StartEpoch();
  clock.StartBatch();
  if (clock.EndsWindow(/*last_batch=*/false)) clock.CountUpdate();
  clock.CountBatch(/*samples=*/32);
  if (Every(Batches(100)).Due(clock.previous(), clock.progress())) Report();
  EXPECT_EQ(clock.samples(), 32);
  EXPECT_EQ(clock.updates(), 0);
  EXPECT_EQ(reports, 0);
}

TEST(RunClockTest, StartsAtZero) {
  const RunClock clock;
  EXPECT_EQ(clock.progress(), Progress{});
  EXPECT_EQ(clock.epoch(), 0);
  EXPECT_EQ(clock.epoch_batches(), 0);
  EXPECT_EQ(clock.grad_accum_steps(), 1);
  EXPECT_EQ(clock.num_processes(), 1);
}

TEST(RunClockTest, CountsInTheEpochAndSinceTheStart) {
  Hand hand;
  RunClock clock(hand.Options());
  RunEpoch(clock, hand, 3);
  clock.CountEpoch();
  clock.EndEpoch();
  hand.now += 10;  // an evaluation
  RunEpoch(clock, hand, 2);
  EXPECT_EQ(clock.progress(), (Progress{.batches = 5,
                                        .updates = 5,
                                        .samples = 40,
                                        .epochs = 1,
                                        .seconds = 20}));
  EXPECT_EQ(
      clock.epoch_progress(),
      (Progress{.batches = 2, .updates = 2, .samples = 16, .seconds = 14}));
  EXPECT_EQ(clock.previous().batches, 4);
  EXPECT_EQ(clock.previous().updates, 4);
}

TEST(RunClockTest, TheEpochOfTheLastBatchStaysBetweenTwoEpochs) {
  Hand hand;
  RunClock clock(hand.Options());
  EXPECT_EQ(clock.epoch_of_last_batch(), 0);
  RunEpoch(clock, hand, 1);
  EXPECT_EQ(clock.epoch_of_last_batch(), 0);
  clock.EndEpoch();
  EXPECT_EQ(clock.epoch(), 1);
  EXPECT_EQ(clock.epoch_of_last_batch(), 0);
  RunEpoch(clock, hand, 1);
  EXPECT_EQ(clock.epoch_of_last_batch(), 1);
}

TEST(RunClockTest, WindowsEndWhenFullAndAtTheLastBatch) {
  RunClock clock({.grad_accum_steps = 3});
  clock.StartEpoch();
  std::string windows;
  for (int batch = 0; batch < 5; ++batch) {
    if (clock.StartsWindow()) windows += '[';
    windows += 'b';
    if (clock.EndsWindow(/*last_batch=*/batch == 4)) windows += ']';
    clock.CountBatch(1);
  }
  EXPECT_EQ(windows, "[bbb][bb]");
}

TEST(RunClockTest, ASkippedUpdateDoesNotCount) {
  RunClock clock;
  clock.StartBatch();
  clock.CountBatch(4);
  EXPECT_EQ(clock.updates(), 0);
  EXPECT_EQ(clock.batches(), 1);
}

TEST(RunClockTest, ContinuesFromItsState) {
  Hand before, after;
  after.now = 5000;
  RunClock saved(before.Options());
  RunEpoch(saved, before, 3);
  saved.CountEpoch();
  saved.EndEpoch();
  RunEpoch(saved, before, 2);
  RunClock loaded(after.Options());
  loaded.LoadState(saved.SaveState());
  EXPECT_EQ(loaded.progress(), saved.progress());
  EXPECT_EQ(loaded.previous(), saved.previous());
  EXPECT_EQ(loaded.epoch_progress(), saved.epoch_progress());
  EXPECT_EQ(loaded.epoch(), 1);
  EXPECT_EQ(loaded.epoch_batches(), 2);
  EXPECT_FALSE(loaded.resized());
  after.now += 3;
  EXPECT_EQ(loaded.Elapsed(), 13);
}

TEST(RunClockTest, KnowsABatchOfAnotherSize) {
  RunClock saved({.total_batch_size = 8}), loaded({.total_batch_size = 16});
  loaded.LoadState(saved.SaveState());
  EXPECT_TRUE(loaded.resized());
}

TEST(RunClockTest, RefusesAnotherVersionAndBadOptions) {
  RunClock clock;
  EXPECT_THROW(clock.LoadState(State(/*version=*/2)), std::invalid_argument);
  EXPECT_THAT(ErrorOf([] { RunClock({.grad_accum_steps = 0}); }),
              HasSubstr("grad_accum_steps is 0; it must be at least 1"));
  EXPECT_THAT(ErrorOf([] { RunClock({.num_processes = 0}); }),
              HasSubstr("num_processes is 0"));
}

}  // namespace
}  // namespace trainyard

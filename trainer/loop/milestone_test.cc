#include "trainer/loop/milestone.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace trainyard {
namespace {

void Step(RunClock& clock) {
  clock.StartBatch();
  clock.CountBatch(1);
}

TEST(MilestoneTest, HeaderExample) {
  RunClock clock;
  int reports = 0;
  const auto Report = [&] { ++reports; };
  Milestone report(Every(Batches(100)));
  for (int batch = 0; batch < 250; ++batch) {
    Step(clock);
    if (report.Due(clock)) {
      Report();
      report.Done(clock);
    }
  }
  EXPECT_EQ(reports, 2);
}

TEST(MilestoneTest, IsDueOncePerBatch) {
  RunClock clock;
  Milestone milestone(Every(Batches(2)));
  EXPECT_FALSE(milestone.Due(clock));
  Step(clock);
  EXPECT_FALSE(milestone.Due(clock));
  Step(clock);
  EXPECT_TRUE(milestone.Due(clock));
  milestone.Done(clock);
  EXPECT_FALSE(milestone.Due(clock));
  EXPECT_TRUE(milestone.DoneAt(clock));
  Step(clock);
  EXPECT_FALSE(milestone.DoneAt(clock));
}

TEST(MilestoneTest, AResumedRunDoesWhatWasDueAndNotDone) {
  RunClock clock;
  Milestone done(Every(Batches(1))), open(Every(Batches(1)));
  Step(clock);
  done.Done(clock);
  Milestone done_later(Every(Batches(1))), open_later(Every(Batches(1)));
  done_later.LoadState(done.SaveState());
  open_later.LoadState(open.SaveState());
  RunClock resumed;
  resumed.LoadState(clock.SaveState());
  EXPECT_FALSE(done_later.Due(resumed));
  EXPECT_TRUE(open_later.Due(resumed));
  EXPECT_THROW(open_later.LoadState(State(/*version=*/2)),
               std::invalid_argument);
}

TEST(MilestoneTest, NeedsSecondsOnlyForPeriodsInSeconds) {
  EXPECT_TRUE(Milestone(Every(Seconds(1))).needs_seconds());
  EXPECT_TRUE(Milestone(At(Seconds(1))).needs_seconds());
  EXPECT_FALSE(Milestone(Every(Epochs(1))).needs_seconds());
  EXPECT_FALSE(Milestone(Never()).needs_seconds());
}

}  // namespace
}  // namespace trainyard

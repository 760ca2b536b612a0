#include "tracking/run_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(InMemoryRunHistoryTest, HeaderExample) {
  InMemoryRunHistory history;
  history.Update("train_loss", 0.7);
  history.Latest("train_loss");
  history.current_epoch();
  EXPECT_EQ(history.Latest("train_loss"), 0.7);
  EXPECT_EQ(history.current_epoch(), 1);
}

TEST(InMemoryRunHistoryTest, KeepsValuesInOrderAndNamesSorted) {
  InMemoryRunHistory history;
  history.Update("loss", 3);
  history.Update("accuracy", 0.5);
  history.Update("loss", 2);
  EXPECT_THAT(history.Values("loss"), ElementsAre(3, 2));
  EXPECT_THAT(history.Names(), ElementsAre("accuracy", "loss"));
  EXPECT_EQ(history.Latest("loss"), 2);
}

TEST(InMemoryRunHistoryTest, UnknownMetricNamesTheKnownOnes) {
  InMemoryRunHistory history;
  EXPECT_THAT(history.Values("loss"), IsEmpty());
  history.Update("train_loss", 1);
  history.Update("eval_loss", 1);
  try {
    history.Latest("loss");
    FAIL() << "an unknown metric had a value";
  } catch (const std::out_of_range& e) {
    EXPECT_STREQ(
        e.what(),
        "RunHistory: no metric \"loss\"; there are: eval_loss, train_loss");
  }
}

TEST(InMemoryRunHistoryTest, ResetRemovesAllValues) {
  InMemoryRunHistory history;
  history.Update("loss", 3);
  history.IncrementEpoch();
  EXPECT_EQ(history.current_epoch(), 2);
  history.Reset();
  EXPECT_EQ(history.current_epoch(), 1);
  EXPECT_THAT(history.Names(), IsEmpty());
}

TEST(RunHistoryTest, ResumesFromASavedState) {
  InMemoryRunHistory before, after;
  before.Update("loss", 2);
  before.IncrementEpoch();
  before.Update("loss", 1);
  before.Update("epoch", 7);  // a metric may be called what it likes
  after.Update("old", 1);
  after.LoadState(before.SaveState());
  EXPECT_EQ(after.current_epoch(), 2);
  EXPECT_EQ(after.Names(), (std::vector<std::string>{"epoch", "loss"}));
  EXPECT_EQ(after.Values("loss"), (std::vector<double>{2, 1}));
}

}  // namespace
}  // namespace trainyard

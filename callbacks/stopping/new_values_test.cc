#include "callbacks/stopping/new_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(NewValuesTest, GivesTheLatestOfWhatWasAddedSince) {
  InMemoryRunHistory history;
  NewValues news;
  EXPECT_THAT(news.Take(history), IsEmpty());
  history.Update("loss", 3);
  history.Update("loss", 2);
  history.Update("lr", 1);
  EXPECT_THAT(news.Take(history), ElementsAre(Pair("loss", 2), Pair("lr", 1)));
  history.Update("lr", 1);
  EXPECT_THAT(news.Take(history), ElementsAre(Pair("lr", 1)));
  EXPECT_THAT(news.Take(history), IsEmpty());
}

TEST(NewValuesTest, AResetForgetsTheRunBefore) {
  InMemoryRunHistory history;
  NewValues news;
  history.Update("loss", 3);
  news.Take(history);
  history.Reset();
  news.Reset();
  history.Update("loss", 2);
  EXPECT_THAT(news.Take(history), ElementsAre(Pair("loss", 2)));
}

}  // namespace
}  // namespace trainyard

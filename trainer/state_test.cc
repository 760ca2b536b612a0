#include "trainer/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TEST(StateTest, GivesBackWhatWasSet) {
  State state(3);
  state.Set("count", int64_t{7});
  state.Set("best", 0.5);
  state.Set("name", "loss");
  state.Set("values", std::vector<double>{1, 2});
  EXPECT_EQ(state.version(), 3);
  EXPECT_EQ(state.Get<int64_t>("count"), 7);
  EXPECT_EQ(state.Get<double>("best"), 0.5);
  EXPECT_EQ(state.Get<std::string>("name"), "loss");
  EXPECT_EQ(state.Get<std::vector<double>>("values"),
            (std::vector<double>{1, 2}));
  EXPECT_TRUE(state.Has("count"));
  EXPECT_FALSE(state.Has("Count"));
}

TEST(StateTest, NamesWhatIsMissingAndWhatThereIs) {
  State state;
  EXPECT_THAT(ErrorOf([&] { state.Get<double>("best"); }),
              HasSubstr("no \"best\"; there is nothing"));
  state.Set("worst", 1.0);
  EXPECT_THAT(ErrorOf([&] { state.Get<double>("best"); }),
              HasSubstr("there is \"worst\""));
}

TEST(StateTest, NamesTheTypes) {
  State state;
  state.Set("best", int64_t{1});
  EXPECT_THAT(ErrorOf([&] { state.Get<double>("best"); }),
              HasSubstr("\"best\" is a whole number, not a number"));
}

TEST(StateTest, RefusesANameTwice) {
  State state;
  state.Set("best", 1.0);
  EXPECT_THAT(ErrorOf([&] { state.Set("best", 2.0); }),
              HasSubstr("\"best\" is set a second time"));
  EXPECT_EQ(state.Get<double>("best"), 1.0);
}

TEST(StateTest, RefusesVersionsFromTheFuture) {
  EXPECT_THAT(ErrorOf([] { State(3).CheckVersion(2); }),
              HasSubstr("version 3 is not one this program knows (1 to 2)"));
  EXPECT_THAT(ErrorOf([] { State(0).CheckVersion(2); }),
              HasSubstr("version 0"));
  State(2).CheckVersion(2);
}

}  // namespace
}  // namespace trainyard

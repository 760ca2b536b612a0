#include "tools/launch/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace trainyard {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RosterTest : public ::testing::Test {
 protected:
  // Letters as "to: text".
  using Texts = std::vector<std::string>;
  static Texts Read(const Roster::Letters& letters) {
    Texts texts;
    for (const Letter& letter : letters) {
      texts.push_back(std::to_string(letter.to) + ": " + letter.text);
    }
    return texts;
  }
  Texts Say(Roster& roster, int from, const std::string& line) {
    return Read(roster.Received(from, line, now_));
  }
  Texts After(Roster& roster, int passed) {
    now_ += seconds(passed);
    return Read(roster.Tick(now_));
  }
  // Both nodes of two are there, and the ranks run.
  void Start(Roster& roster) {
    Say(roster, 1, "JOIN 0 2 0 10.0.0.1 4001 n1");
    ASSERT_THAT(Say(roster, 2, "JOIN 1 2 0 10.0.0.2 4002 n2"),
                UnorderedElementsAre("1: START 1 0 0 4 10.0.0.1 4001 0",
                                     "2: START 1 1 2 4 10.0.0.1 4001 0"));
  }

  Roster::Time now_ = Roster::Time(seconds(1000));
  const RosterOptions two_ = {
      .min_nodes = 2, .max_nodes = 2, .max_restarts = 2};
};

TEST_F(RosterTest, HeaderExample) {
  const Roster::Time now = now_;
  Roster roster({.min_nodes = 1, .max_nodes = 1});
  const Roster::Letters letters =
      roster.Received(7, "JOIN 0 2 0 10.0.0.1 4711 n1", now);
  EXPECT_THAT(Read(letters), ElementsAre("7: START 1 0 0 2 10.0.0.1 4711 0"));
}

TEST_F(RosterTest, StartsWhenAllNodesAreThereInTheOrderOfTheirNumbers) {
  Roster roster(two_);
  EXPECT_THAT(Say(roster, 2, "JOIN 1 3 0 10.0.0.2 4002 n2"), IsEmpty());
  EXPECT_THAT(After(roster, 100), IsEmpty());
  EXPECT_THAT(Say(roster, 1, "JOIN 0 1 0 10.0.0.1 4001 n1"),
              UnorderedElementsAre("1: START 1 0 0 4 10.0.0.1 4001 0",
                                   "2: START 1 1 1 4 10.0.0.1 4001 0"));
}

TEST_F(RosterTest, AFailureStopsAllAndStartsANewGeneration) {
  Roster roster(two_);
  Start(roster);
  EXPECT_THAT(Say(roster, 2, "FAILED 1 137 rank 3 was killed"),
              UnorderedElementsAre("1: STOP 1 node 1 (n2): rank 3 was killed",
                                   "2: STOP 1 node 1 (n2): rank 3 was killed"));
  // A consequence of the first failure: counted once.
  EXPECT_THAT(Say(roster, 1, "FAILED 1 1 lost its peer"), IsEmpty());
  EXPECT_THAT(Say(roster, 1, "JOIN 0 2 1 10.0.0.1 4003 n1"), IsEmpty());
  EXPECT_THAT(Say(roster, 2, "JOIN 1 2 1 10.0.0.2 4004 n2"), IsEmpty());
  EXPECT_THAT(After(roster, 1),
              UnorderedElementsAre("1: START 2 0 0 4 10.0.0.1 4003 1",
                                   "2: START 2 1 2 4 10.0.0.1 4003 1"));
  // What is left of generation 1 says nothing about this one.
  EXPECT_THAT(Say(roster, 2, "FAILED 1 1 late"), IsEmpty());
  EXPECT_THAT(Say(roster, 2, "FINISHED 1"), IsEmpty());
}

TEST_F(RosterTest, AfterTheLastRestartItEndsWithTheFirstCode) {
  Roster roster({.min_nodes = 1, .max_nodes = 1, .max_restarts = 1});
  EXPECT_THAT(Say(roster, 1, "JOIN 0 1 0 a 1 n1"),
              ElementsAre("1: START 1 0 0 1 a 1 0"));
  Say(roster, 1, "FAILED 1 7 first");
  Say(roster, 1, "JOIN 0 1 1 a 2 n1");
  EXPECT_THAT(After(roster, 1), ElementsAre("1: START 2 0 0 1 a 2 1"));
  EXPECT_THAT(Say(roster, 1, "FAILED 2 8 second"),
              ElementsAre("1: END 7 node 0 (n1): second"));
  EXPECT_TRUE(roster.ended());
}

TEST_F(RosterTest, ALostNodeIsWaitedFor) {
  Roster roster(two_);
  Start(roster);
  EXPECT_THAT(Read(roster.Lost(2, now_)),
              ElementsAre("1: STOP 1 node 1 (n2) is gone"));
  Say(roster, 1, "JOIN 0 2 1 10.0.0.1 4003 n1");
  EXPECT_THAT(After(roster, 100), IsEmpty());
  EXPECT_EQ(Say(roster, 3, "JOIN 1 2 0 10.0.0.2 4004 n2").size(), 2u);
  EXPECT_EQ(roster.generation(), 2);
}

TEST_F(RosterTest, ANodeThatDoesNotComeBackEndsTheRun) {
  Roster roster(two_);
  Start(roster);
  roster.Lost(2, now_);
  Say(roster, 1, "JOIN 0 2 1 10.0.0.1 4003 n1");
  EXPECT_THAT(After(roster, 601),
              ElementsAre("1: END 1 only 1 of 2 nodes joined"));
}

TEST_F(RosterTest, ANewCoordinatorGoesOnWithAHigherGeneration) {
  Roster roster(two_);
  Say(roster, 1, "JOIN 0 1 0 a 1 n1");
  EXPECT_THAT(
      Say(roster, 2, "JOIN 1 1 6 b 2 n2"),
      UnorderedElementsAre("1: START 7 0 0 2 a 1 0", "2: START 7 1 1 2 a 1 0"));
}

TEST_F(RosterTest, ElasticGoesOnWithTheNodesThatAreLeftAndTakesOthersInLater) {
  Roster roster({.min_nodes = 2,
                 .max_nodes = 3,
                 .join_wait = seconds(5),
                 .max_restarts = 9,
                 .backoff = seconds(0)});
  Say(roster, 1, "JOIN 0 1 0 a 1 n1");
  Say(roster, 2, "JOIN 1 1 0 b 2 n2");
  EXPECT_THAT(After(roster, 4), IsEmpty());
  EXPECT_EQ(Say(roster, 3, "JOIN 2 1 0 c 3 n3").size(), 3u);
  // Node 0 goes: ranks are numbered without it.
  roster.Lost(1, now_);
  Say(roster, 2, "JOIN 1 1 1 b 4 n2");
  Say(roster, 3, "JOIN 2 1 1 c 5 n3");
  EXPECT_THAT(After(roster, 5), UnorderedElementsAre("2: START 2 0 0 2 b 4 1",
                                                     "3: START 2 1 1 2 b 4 1"));
  // It comes back: nothing happens until the next restart.
  EXPECT_THAT(Say(roster, 4, "JOIN 0 1 0 a 6 n1"), IsEmpty());
  EXPECT_THAT(After(roster, 100), IsEmpty());
  Say(roster, 2, "FAILED 2 9 x");
  Say(roster, 2, "JOIN 1 1 2 b 7 n2");
  EXPECT_THAT(
      Say(roster, 3, "JOIN 2 1 2 c 8 n3"),
      UnorderedElementsAre("4: START 3 0 0 3 a 6 2", "2: START 3 1 1 3 a 6 2",
                           "3: START 3 2 2 3 a 6 2"));
}

TEST_F(RosterTest, TheSecondLauncherOfANodeReplacesTheFirst) {
  Roster roster(two_);
  Start(roster);
  const Texts letters = Say(roster, 5, "JOIN 1 2 0 10.0.0.2 4009 n2");
  EXPECT_THAT(letters, UnorderedElementsAre(
                           "1: STOP 1 node 1 (n2) is gone",
                           "2: END 1 another launcher has joined as node 1"));
}

TEST_F(RosterTest, ANodeTooManyIsRefused) {
  Roster roster(two_);
  Start(roster);
  EXPECT_THAT(Say(roster, 9, "JOIN 2 1 0 c 1 n3"),
              ElementsAre("9: END 1 all 2 nodes have joined already"));
}

TEST_F(RosterTest, LaunchersWithoutANumberKeepTheOneTheyGet) {
  Roster roster({.min_nodes = 2,
                 .max_nodes = 2,
                 .max_restarts = 1,
                 .backoff = seconds(0)});
  Say(roster, 1, "JOIN - 1 0 a 1 n1");
  Say(roster, 2, "JOIN - 1 0 b 2 n2");
  Say(roster, 2, "FAILED 1 9 x");
  Say(roster, 2, "JOIN - 1 1 b 2 n2");
  EXPECT_THAT(
      Say(roster, 1, "JOIN - 1 1 a 1 n1"),
      UnorderedElementsAre("1: START 2 0 0 2 a 1 1", "2: START 2 1 1 2 a 1 1"));
}

TEST_F(RosterTest, AllFinishedIsTheEnd) {
  Roster roster(two_);
  Start(roster);
  EXPECT_THAT(Say(roster, 1, "FINISHED 1"), IsEmpty());
  EXPECT_THAT(Say(roster, 2, "FINISHED 1"),
              UnorderedElementsAre("1: END 0 ", "2: END 0 "));
}

TEST_F(RosterTest, ACancelledNodeCancelsTheOthers) {
  Roster roster(two_);
  Start(roster);
  EXPECT_THAT(Say(roster, 1, "CANCEL SIGTERM"),
              ElementsAre("2: CANCEL SIGTERM"));
  EXPECT_THAT(Say(roster, 1, "CANCELLED 1 3"), IsEmpty());
  EXPECT_THAT(Say(roster, 2, "CANCELLED 1 3"),
              UnorderedElementsAre("1: END 3 ", "2: END 3 "));
}

TEST_F(RosterTest, OtherProgramsAreRefused) {
  Roster roster(two_);
  EXPECT_THAT(Say(roster, 1, "GET / HTTP/1.1"),
              ElementsAre("1: END 1 expected JOIN"));
  EXPECT_THAT(
      Say(roster, 1, "JOIN 0"),
      ElementsAre("1: END 1 this is not a launcher of the same version"));
}

}  // namespace
}  // namespace trainyard

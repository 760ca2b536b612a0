#include "backends/testing/spawn_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <latch>
#include <string>
#include <thread>

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "unset" : value;
}

// As SpawnRanks(2), but keeps its failures from this test.
bool SpawnTwo(::testing::TestPartResultArray& failures) {
  const ::testing::ScopedFakeTestPartResultReporter reporter(
      ::testing::ScopedFakeTestPartResultReporter::
          INTERCEPT_ONLY_CURRENT_THREAD,
      &failures);
  return SpawnRanks(2);
}

TEST(SpawnRanksTest, RanksHaveTheVariablesOfALauncher) {
  if (SpawnRanks(3)) {
    EXPECT_FALSE(IsRank());
    return;
  }
  EXPECT_TRUE(IsRank());
  EXPECT_EQ(Variable("WORLD_SIZE"), "3");
  EXPECT_EQ(Variable("LOCAL_RANK"), Variable("RANK"));
  EXPECT_EQ(Variable("TRAINYARD_STORE_FD") != "unset", Variable("RANK") == "0");
}

TEST(SpawnRanksTest, ARankThatFailsFailsTheTest) {
  ::testing::TestPartResultArray failures;
  if (!SpawnTwo(failures)) {
    EXPECT_NE(Variable("RANK"), "1") << "on purpose";
    return;
  }
  ASSERT_EQ(failures.size(), 1);
  EXPECT_THAT(failures.GetTestPartResult(0).message(),
              AllOf(HasSubstr("rank 1 of 2"), HasSubstr("on purpose")));
}

TEST(SpawnRanksTest, ARankThatDiesFailsTheTest) {
  ::testing::TestPartResultArray failures;
  if (!SpawnTwo(failures)) {
    if (Variable("RANK") == "0") std::abort();
    return;
  }
  ASSERT_EQ(failures.size(), 1);
  EXPECT_THAT(failures.GetTestPartResult(0).message(),
              AllOf(HasSubstr("134"), HasSubstr("rank 0 of 2")));
}

// A copy would have only one of the threads.
TEST(SpawnRanksTest, AProcessWithThreadsStartsItsProgram) {
  std::latch done(1);
  std::thread waits([&] { done.wait(); });
  const bool spawned = SpawnRanks(2);
  done.count_down();
  waits.join();  // in a rank, too
  EXPECT_EQ(spawned, !IsRank());
}

}  // namespace
}  // namespace trainyard

// distributed_test itself: ranks that know their place and meet in a store.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tools/launch/testing/test_rank.h"

namespace trainyard {
namespace {

TEST(RankTest, EachRankHasItsOwnPlace) {
  EXPECT_GE(TestRank(), 0);
  EXPECT_LT(TestRank(), TestWorldSize());
  const std::string device = TestDevice();
  const std::string rank = std::to_string(TestRank());
  EXPECT_TRUE(device == "cpu" || device == "standin:" + rank ||
              device == "cuda:" + rank)
      << device;
}

// The last rank is the last to come: everybody waits for its file.
TEST(RankTest, AllRanksRunAtOnce) {
  const std::string folder = std::getenv("TEST_TMPDIR");
  const auto file = [&](int rank) {
    return folder + "/rank" + std::to_string(rank);
  };
  std::ofstream(file(TestRank())) << getpid();
  for (int rank = 0; rank < TestWorldSize(); ++rank) {
    while (!std::ifstream(file(rank))) usleep(1000);
  }
}

// Only planned: see the test failing_rank_test.
TEST(RankTest, FailsWhereAsked) {
  const char* rank = std::getenv("TRAINYARD_FAIL_RANK");
  if (rank == nullptr) return;
  ASSERT_NE(TestRank(), std::atoi(rank)) << "planned";
  for (;;) pause();
}

}  // namespace
}  // namespace trainyard

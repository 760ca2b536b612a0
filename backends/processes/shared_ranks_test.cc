#include "backends/processes/shared_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Two ranks, and two counters behind what they need themselves.
class SharedRanksTest : public ::testing::Test {
 protected:
  SharedCounter& Counter(size_t index) {
    return *std::launder(reinterpret_cast<SharedCounter*>(
        segment_->data() + 4096 + index * sizeof(SharedCounter)));
  }
  std::unique_ptr<SharedRanks> Make(int64_t rank,
                                    milliseconds timeout = hours(1)) {
    return std::make_unique<SharedRanks>(
        segment_,
        SharedRanksOptions{.rank = rank, .size = 2, .timeout = timeout});
  }
  std::shared_ptr<SharedSegment> segment_ = SharedSegment::Create(8192);
};

TEST_F(SharedRanksTest, RanksTakeTurns) {
  constexpr uint32_t kTurns = 2000;
  uint32_t shared = 0;  // only the rank whose turn it is touches it
  const auto play = [&](int64_t rank) {
    const auto ranks = Make(rank);
    ranks->Watch();
    for (uint32_t turn = 1; turn <= kTurns; ++turn) {
      if (rank == 1) ranks->Wait(Counter(0), turn, 0);
      ++shared;
      ranks->Publish(Counter(static_cast<size_t>(rank)), turn);
      if (rank == 0) ranks->Wait(Counter(1), turn, 1);
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(shared, 2 * kTurns);
}

TEST_F(SharedRanksTest, CountersMayWrapAround) {
  const auto ranks = Make(0);
  ranks->Publish(Counter(0), 3);
  EXPECT_TRUE(SharedRanks::Reached(Counter(0), 3));
  EXPECT_TRUE(SharedRanks::Reached(Counter(0), 0xfffffffe));
  EXPECT_FALSE(SharedRanks::Reached(Counter(0), 4));
}

TEST_F(SharedRanksTest, ARankThatLeftIsNamed) {
  const auto ranks = Make(0);
  Make(1).reset();
  ranks->Watch();
  EXPECT_EQ(ErrorOf<std::runtime_error>([&] { ranks->Wait(Counter(1), 1, 1); }),
            "rank 1 has ended");
}

TEST_F(SharedRanksTest, WhatARankPublishedBeforeItLeftCounts) {
  const auto ranks = Make(0);
  const auto other = Make(1);
  other->Publish(Counter(1), 1);
  ranks->Wait(Counter(1), 1, 1);
}

TEST_F(SharedRanksTest, AKilledRankIsNamedLongBeforeTheTimeout) {
  const auto ranks = Make(0);
  const pid_t child = fork();
  if (child == 0) {
    const auto own = Make(1);
    while (true) pause();
  }
  ranks->Watch();
  kill(child, SIGKILL);
  EXPECT_EQ(ErrorOf<std::runtime_error>([&] { ranks->Wait(Counter(1), 1, 1); }),
            "rank 1 has ended");
  waitpid(child, nullptr, 0);
}

TEST_F(SharedRanksTest, ARankThatHangsIsNamedAfterTheTimeout) {
  const auto ranks = Make(0, milliseconds(30));
  const auto other = Make(1);
  ranks->Watch();
  EXPECT_EQ(ErrorOf<std::runtime_error>([&] { ranks->Wait(Counter(1), 1, 1); }),
            "rank 1 did not come within 30 ms");
}

TEST_F(SharedRanksTest, ARankThatNeverComesIsNamed) {
  const auto ranks = Make(0, milliseconds(30));
  EXPECT_EQ(ErrorOf<std::runtime_error>([&] { ranks->Watch(); }),
            "rank 1 did not come within 30 ms");
  EXPECT_THROW(Make(2), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

#include "trainer/checkpoint/parts/store_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StoreExchangeTest, AllGetWhatAllGaveRoundAfterRound) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&store, rank] {
      StoreExchange ranks(store, rank, 3);
      for (int round = 0; round < 20; ++round) {
        const auto all =
            ranks.AllGather(std::to_string(rank) + std::to_string(round));
        ASSERT_TRUE(all.ok()) << all.status();
        const std::string last = std::to_string(round);
        EXPECT_THAT(*all, ElementsAre("0" + last, "1" + last, "2" + last));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(store->getNumKeys(), 3) << "old rounds are forgotten";
}

TEST(StoreExchangeTest, SaysWhoDidNotCome) {
  StoreExchange ranks(c10::make_intrusive<c10d::HashStore>(), 0, 2,
                      {.timeout = std::chrono::milliseconds(1)});
  const absl::Status status = ranks.AllGather("here").status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("process 1 did not come within 1 ms"));
}

}  // namespace
}  // namespace trainyard

#include "backends/processes/open_exchanges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "backends/processes/shared_segment.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

constexpr size_t kArea = 10000;

// Runs each of two ranks in a thread of its own.
void RunRanks(const std::function<void(OpenExchanges&, int64_t)>& rank) {
  const auto segment =
      SharedSegment::Create(SharedExchange::BytesFor(2, kArea));
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      auto exchange = std::make_unique<SharedExchange>(
          segment, kArea, SharedRanksOptions{.rank = i, .size = 2});
      exchange->ranks().Watch();
      OpenExchanges open(std::move(exchange));
      rank(open, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

template <class T>
void Write(const T& value, std::byte* to) {
  std::memcpy(to, &value, sizeof(value));
}

int Sum(const SharedExchange::Parts& parts) {
  int sum = 0;
  for (const SharedExchange::Part& part : parts) {
    int value = 0;
    std::memcpy(&value, part.data, sizeof(value));
    sum += value;
  }
  return sum;
}

TEST(OpenExchangesTest, HeaderExample) {
  RunRanks([](OpenExchanges& open, int64_t rank) {
    const int mine = rank == 0 ? 3 : 4;
    int sum = 0;
    const uint32_t number = open.Post(
        /*tag=*/7, sizeof(mine), [&](std::byte* to) { Write(mine, to); },
        [&](const SharedExchange::Parts& parts) { sum = Sum(parts); });
    EXPECT_EQ(sum, 0);
    open.CompleteUpTo(number);  // `sum` is there
    EXPECT_EQ(sum, 7);
  });
}

// More are posted than can be open, among them large ones, of which one can.
TEST(OpenExchangesTest, CompletesInOrder) {
  RunRanks([](OpenExchanges& open, int64_t) {
    for (int round = 0; round < 100; ++round) {
      std::vector<int> done;
      uint32_t last = 0;
      for (int i = 0; i < 8; ++i) {
        const size_t bytes = i % 3 == 0 ? kArea : sizeof(int);
        last = open.Post(
            1, bytes, [&](std::byte* to) { Write(round * 10 + i, to); },
            [&done, i, round](const SharedExchange::Parts& parts) {
              EXPECT_EQ(Sum(parts), 2 * (round * 10 + i));
              done.push_back(i);
            });
      }
      open.CompleteUpTo(last);
      EXPECT_THAT(done, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    }
  });
}

TEST(OpenExchangesTest, ALargePostWaitsForItsMemory) {
  RunRanks([](OpenExchanges& open, int64_t) {
    int completed = 0;
    const auto post = [&] {
      return open.Post(
          1, kArea, [](std::byte* to) { Write(1, to); },
          [&](const SharedExchange::Parts&) { ++completed; });
    };
    post();
    EXPECT_EQ(completed, 0);
    const uint32_t second = post();
    EXPECT_EQ(completed, 1);
    open.CompleteUpTo(second);
    EXPECT_EQ(completed, 2);
  });
}

}  // namespace
}  // namespace trainyard

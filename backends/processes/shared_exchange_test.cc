#include "backends/processes/shared_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr size_t kArea = 10000;

// Runs each rank in a thread of its own.
void RunExchange(int64_t size,
                 const std::function<void(SharedExchange&)>& rank) {
  const auto segment =
      SharedSegment::Create(SharedExchange::BytesFor(size, kArea));
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < size; ++i) {
    threads.emplace_back([&, i] {
      SharedExchange exchange(segment, kArea, {.rank = i, .size = size});
      exchange.ranks().Watch();
      rank(exchange);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::string TextOf(const SharedExchange::Part& part) {
  return std::string(reinterpret_cast<const char*>(part.data), part.bytes);
}

// What a rank sends in a round: of any length, small and large.
std::string TextOf(int64_t rank, int round) {
  const size_t length = static_cast<size_t>(round * 37 + rank * 11) % kArea;
  return std::string(length, static_cast<char>('a' + (round + rank) % 26));
}

TEST(SharedExchangeTest, EveryRankReadsThePartsOfAll) {
  for (const int64_t size : {1, 2, 3}) {
    RunExchange(size, [&](SharedExchange& exchange) {
      for (int round = 0; round < 1000; ++round) {
        const std::string mine = TextOf(exchange.ranks().rank(), round);
        const uint32_t number = exchange.Post(7, mine.data(), mine.size());
        exchange.Complete(number, [&](const SharedExchange::Parts& parts) {
          ASSERT_EQ(parts.size(), size);
          for (int64_t rank = 0; rank < size; ++rank) {
            ASSERT_EQ(TextOf(parts[static_cast<size_t>(rank)]),
                      TextOf(rank, round));
          }
        });
      }
    });
  }
}

TEST(SharedExchangeTest, SeveralPostsMayBeOpen) {
  RunExchange(2, [](SharedExchange& exchange) {
    const int64_t other = 1 - exchange.ranks().rank();
    for (int64_t round = 0; round < 300; ++round) {
      std::vector<uint32_t> numbers;
      for (int64_t i = 0; i + 1 < SharedExchange::kOpen; ++i) {
        const int64_t mine = round * 100 + i * 10 + exchange.ranks().rank();
        numbers.push_back(exchange.Post(1, &mine, sizeof(mine)));
      }
      for (int64_t i = 0; i + 1 < SharedExchange::kOpen; ++i) {
        exchange.Complete(
            numbers[static_cast<size_t>(i)],
            [&](const SharedExchange::Parts& parts) {
              const int64_t theirs = round * 100 + i * 10 + other;
              EXPECT_EQ(std::memcmp(parts[static_cast<size_t>(other)].data,
                                    &theirs, sizeof(theirs)),
                        0);
            });
      }
    }
  });
}

TEST(SharedExchangeTest, DifferentTagsAreAnError) {
  RunExchange(2, [](SharedExchange& exchange) {
    const auto tag = static_cast<uint64_t>(exchange.ranks().rank() + 5);
    const uint32_t number = exchange.Post(tag, nullptr, 0);
    EXPECT_THAT(ErrorOf<std::runtime_error>([&] {
                  exchange.Complete(number, [](const auto&) { FAIL(); });
                }),
                HasSubstr("exchanges something else"));
  });
}

TEST(SharedExchangeTest, RejectsWhatDoesNotFit) {
  RunExchange(1, [](SharedExchange& exchange) {
    const std::string large(kArea + 1, 'x');
    EXPECT_THAT(ErrorOf<std::invalid_argument>(
                    [&] { exchange.Post(1, large.data(), large.size()); }),
                HasSubstr("10001 bytes do not fit into an area of 10000"));
  });
}

}  // namespace
}  // namespace trainyard

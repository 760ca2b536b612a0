#include "trainer/data/ordered_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "trainer/data/testing/live_threads.h"

namespace trainyard {
namespace {

TEST(OrderedWorkersTest, GivesValuesInOrderForAnyNumberOfThreads) {
  for (const int64_t workers : {1, 2, 5}) {
    for (const int64_t ahead : {1, 3, 8}) {
      for (const int64_t count : {0, 1, 2, 100}) {
        OrderedWorkers<std::string> squares(
            {.workers = workers, .ahead = ahead}, count,
            [](int64_t i) { return std::to_string(i * i); });
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_FALSE(squares.done());
          ASSERT_EQ(squares.Next(), std::to_string(i * i));
        }
        EXPECT_TRUE(squares.done());
      }
    }
  }
}

TEST(OrderedWorkersTest, MakesNoMoreThanAheadAllows) {
  std::atomic<int64_t> made = 0;
  int64_t taken = 0;
  std::atomic<int64_t> taken_seen = 0;
  std::atomic<bool> too_many = false;
  OrderedWorkers<int64_t> values({.workers = 3, .ahead = 4}, 200,
                                 [&](int64_t i) {
                                   // One more than `taken_seen` may be gone.
                                   if (++made > taken_seen + 1 + 4)
                                     too_many = true;
                                   return i;
                                 });
  while (!values.done()) {
    values.Next();
    taken_seen = ++taken;
  }
  EXPECT_FALSE(too_many);
  EXPECT_EQ(made, 200);
}

TEST(OrderedWorkersTest, ErrorIsThrownAtItsTurnAndTheNextValueFollows) {
  OrderedWorkers<int64_t> values({.workers = 2, .ahead = 4}, 10, [](int64_t i) {
    if (i == 3) throw std::out_of_range("three");
    return i;
  });
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(values.Next(), i);
  EXPECT_THROW(values.Next(), std::out_of_range);
  for (int64_t i = 4; i < 10; ++i) EXPECT_EQ(values.Next(), i);
}

TEST(OrderedWorkersTest, EndsItsThreads) {
  for (const int64_t take : {1, 7, 100}) {
    auto values = std::make_unique<OrderedWorkers<int64_t>>(
        OrderedWorkersOptions{.workers = 4, .ahead = 8}, 100, [](int64_t i) {
          CountThisThread();
          return i;
        });
    for (int64_t i = 0; i < take; ++i) values->Next();
    if (take < 50) {
      EXPECT_GE(LiveThreads(), 1) << "makes values ahead";
    }
    values.reset();
    EXPECT_EQ(LiveThreads(), 0) << take;
  }
}

TEST(OrderedWorkersTest, HeaderExample) {
  std::string printed;
  const auto Render = [](int64_t i) { return std::to_string(i % 10); };
  const auto Print = [&](const std::string& page) { printed += page; };
  OrderedWorkers<std::string> pages({.workers = 2, .ahead = 4}, 100,
                                    [&](int64_t i) { return Render(i); });
  while (!pages.done()) Print(pages.Next());
  EXPECT_EQ(printed.substr(0, 12), "012345678901");
  EXPECT_EQ(printed.size(), 100U);
}

TEST(OrderedWorkersTest, AcceptsMoveOnlyValues) {
  OrderedWorkers<std::unique_ptr<int64_t>> values(
      {.workers = 2, .ahead = 2}, 5,
      [](int64_t i) { return std::make_unique<int64_t>(i); });
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(*values.Next(), i);
}

TEST(OrderedWorkersTest, RejectsBadOptions) {
  const auto make = [](int64_t i) { return i; };
  using Workers = OrderedWorkers<int64_t>;
  EXPECT_THROW(Workers({.workers = 0}, 1, make), std::invalid_argument);
  EXPECT_THROW(Workers({.ahead = 0}, 1, make), std::invalid_argument);
  EXPECT_THROW(Workers({}, -1, make), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

#include "trainer/in_parallel.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

class InParallelTest : public testing::Test {
 protected:
  InParallelTest() { at::set_num_threads(2); }
  ~InParallelTest() override { at::set_num_threads(before_); }

 private:
  const int before_ = at::get_num_threads();
};

double Sum(const std::vector<double>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0);
}

TEST_F(InParallelTest, Example) {
  const std::vector<std::vector<double>> rows = {{1}, {2, 3}, {}, {4}};
  std::vector<double> sums(4);
  InParallel(4, [&](int64_t i) { sums[i] = Sum(rows[i]); });
  EXPECT_EQ(sums, (std::vector<double>{1, 5, 0, 4}));
}

TEST_F(InParallelTest, CallsOnceWithEachNumber) {
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    for (const int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      InParallel(count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
      for (const auto& of_one : calls) EXPECT_EQ(of_one, 1);
    }
  }
}

// Each of two calls waits for the other.
TEST_F(InParallelTest, UsesTheThreadsOfLibtorch) {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> threads;
  InParallel(2, [&](int64_t) {
    std::unique_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
    changed.notify_all();
    changed.wait_for(lock, std::chrono::minutes(1),
                     [&] { return threads.size() == 2; });
  });
  EXPECT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 1U);
}

TEST_F(InParallelTest, IsALoopInsideOfParallelWork) {
  std::vector<std::vector<int64_t>> seen(2);
  InParallel(2, [&](int64_t outer) {
    EXPECT_TRUE(at::in_parallel_region());
    InParallel(3, [&](int64_t inner) {
      seen[static_cast<size_t>(outer)].push_back(inner);
    });
  });
  EXPECT_EQ(seen[0], (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(seen[1], (std::vector<int64_t>{0, 1, 2}));
  EXPECT_FALSE(at::in_parallel_region());
}

TEST_F(InParallelTest, ThrowsWhatACallThrew) {
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    std::atomic<int> calls{0};
    EXPECT_EQ(ErrorOf<std::runtime_error>([&] {
                InParallel(1000, [&](int64_t) {
                  ++calls;
                  throw std::runtime_error("no");
                });
              }),
              "no");
    EXPECT_LE(calls, threads);
  }
}

}  // namespace
}  // namespace trainyard

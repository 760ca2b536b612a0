#include "trainer/data/streaming/item_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "trainer/data/testing/counting_stream.h"

namespace trainyard {
namespace {

std::vector<int64_t> Shuffled(int64_t count, int64_t buffer, uint64_t key) {
  ShuffledStream<at::Tensor> stream(std::make_unique<CountingStream>(count),
                                    buffer, key);
  std::vector<int64_t> items;
  while (const std::optional<at::Tensor> item = stream.Next())
    items.push_back(item->item<int64_t>());
  return items;
}

std::vector<int64_t> UpTo(int64_t end) {
  std::vector<int64_t> all(static_cast<size_t>(end));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(ItemStreamTest, SkipReturnsTheNumberOfItems) {
  CountingStream stream(5);
  EXPECT_EQ(stream.Skip(3), 3);
  EXPECT_EQ(stream.Next()->item<int64_t>(), 3);
  EXPECT_EQ(stream.Skip(3), 1);
}

TEST(ShuffledStreamTest, EachItemOnceInARandomOrder) {
  for (const int64_t buffer : {2, 16, 1000}) {
    std::vector<int64_t> items = Shuffled(100, buffer, 1);
    EXPECT_NE(items, UpTo(100));
    EXPECT_EQ(items, Shuffled(100, buffer, 1));
    EXPECT_NE(items, Shuffled(100, buffer, 2));
    // None comes before it was read.
    for (size_t i = 0; i < items.size(); ++i)
      EXPECT_LT(items[i], static_cast<int64_t>(i) + buffer);
    std::ranges::sort(items);
    EXPECT_EQ(items, UpTo(100));
  }
  EXPECT_EQ(Shuffled(100, 1, 1), UpTo(100));
  EXPECT_TRUE(Shuffled(0, 4, 1).empty());
}

TEST(ShuffledStreamTest, RejectsBadOptions) {
  EXPECT_THROW(Shuffled(1, 0, 1), c10::ValueError);
  EXPECT_THROW(ShuffledStream<at::Tensor>(nullptr, 1, 1), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/streaming/stream_loader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "trainer/data/testing/counting_stream.h"

namespace trainyard {
namespace {

StreamLoader<at::Tensor> LoaderOf(int64_t count, StreamLoaderOptions options) {
  return StreamLoader<at::Tensor>(
      [count](int64_t) { return std::make_unique<CountingStream>(count); },
      options);
}

using Numbers = std::vector<int64_t>;

Numbers RealRows(const AnyBatch& batch) {
  const at::Tensor rows = batch.WithoutPadding().As<at::Tensor>().contiguous();
  return {rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()};
}

// The numbers that all ranks are given, batch by batch; they have equally many.
Numbers AllRanks(int64_t count, StreamLoaderOptions options, int64_t first,
                 int64_t& batches) {
  std::vector<StreamLoader<at::Tensor>> loaders;
  for (options.rank = 0; options.rank < options.num_ranks; ++options.rank) {
    loaders.push_back(LoaderOf(count, options));
    loaders.back().StartEpoch(0, first);
  }
  Numbers numbers;
  for (batches = 0;; ++batches) {
    size_t ended = 0;
    for (auto& loader : loaders) {
      if (const std::optional<AnyBatch> batch = loader.Next()) {
        const Numbers rows = RealRows(*batch);
        EXPECT_EQ(batch->size(), std::ssize(rows));
        numbers.insert(numbers.end(), rows.begin(), rows.end());
      } else {
        ++ended;
      }
    }
    if (ended == loaders.size()) return numbers;
    EXPECT_EQ(ended, 0U) << "one rank ended before the others";
    if (ended != 0) return numbers;
  }
}

Numbers Range(int64_t begin, int64_t end) {
  Numbers all(static_cast<size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

TEST(StreamLoaderTest, EachSampleOnceOnAnyNumberOfRanks) {
  for (const int64_t ranks : {1, 2, 3}) {
    for (const int64_t prefetch : {0, 3}) {
      for (int64_t count = 12; count < 26; ++count) {
        for (const LastBatch policy :
             {LastBatch::kUneven, LastBatch::kPad, LastBatch::kDrop}) {
          int64_t batches = 0;
          const int64_t whole = count / (4 * ranks) * (4 * ranks);
          const int64_t end = policy == LastBatch::kDrop ? whole : count;
          const Numbers got = AllRanks(count,
                                       {.batch_size = 4,
                                        .last_batch = policy,
                                        .num_ranks = ranks,
                                        .prefetch = prefetch},
                                       0, batches);
          ASSERT_EQ(got, Range(0, end)) << ranks << " ranks, " << count;
          ASSERT_EQ(batches, (end + 4 * ranks - 1) / (4 * ranks));
        }
      }
    }
  }
}

TEST(StreamLoaderTest, GoesOnWhereItWasWithOtherRanks) {
  StreamLoader<at::Tensor> one = LoaderOf(50, {.batch_size = 5, .prefetch = 4});
  one.StartEpoch(2);
  one.Next();
  one.Next();
  EXPECT_EQ(one.position(), 10);
  int64_t batches = 0;
  EXPECT_EQ(
      AllRanks(50, {.batch_size = 3, .num_ranks = 2}, one.position(), batches),
      Range(10, 50));
  StreamLoader<at::Tensor> same = LoaderOf(50, {.batch_size = 5});
  same.LoadState(one.SaveState());
  EXPECT_EQ(same.epoch(), 2);
  EXPECT_EQ(RealRows(*same.Next()), Range(10, 15));
  EXPECT_THROW(same.StartEpoch(0, 51), c10::ValueError);
}

TEST(StreamLoaderTest, EarlyStopLeavesNoThreadBehind) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto before = threads();
  {
    StreamLoader<at::Tensor> endless =
        LoaderOf(-1, {.batch_size = 2, .prefetch = 2});
    endless.StartEpoch(0);
    EXPECT_EQ(endless.Next()->size(), 2);
    EXPECT_GT(threads(), before);
  }
  EXPECT_EQ(threads(), before);
}

TEST(StreamLoaderTest, RefusesBadOptions) {
  EXPECT_THROW(LoaderOf(1, {.batch_size = 0}), c10::ValueError);
  EXPECT_THROW(LoaderOf(1, {.rank = 1}), c10::ValueError);
  EXPECT_THROW(LoaderOf(1, {.prefetch = -1}), c10::ValueError);
  EXPECT_THROW(StreamLoader<at::Tensor>(nullptr, {}), c10::ValueError);
  EXPECT_FALSE(LoaderOf(1, {}).Next().has_value());
}

}  // namespace
}  // namespace trainyard

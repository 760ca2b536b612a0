#include "trainer/data/streaming/stream_loader.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "trainer/data/testing/counting_stream.h"
#include "trainer/data/testing/live_threads.h"

namespace trainyard {
namespace {

StreamLoader<at::Tensor> LoaderOf(int64_t count, LoaderOptions options) {
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
Numbers AllRanks(int64_t count, LoaderOptions options, int64_t first,
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
    for (const int64_t workers : {0, 1}) {
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
                                        .num_workers = workers},
                                       0, batches);
          ASSERT_EQ(got, Range(0, end)) << ranks << " ranks, " << count;
          ASSERT_EQ(batches, (end + 4 * ranks - 1) / (4 * ranks));
        }
      }
    }
  }
}

TEST(StreamLoaderTest, ResumesWithOtherRanks) {
  StreamLoader<at::Tensor> one =
      LoaderOf(50, {.batch_size = 5, .num_workers = 1, .prefetch = 4});
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
}

TEST(StreamLoaderTest, EndsItsThread) {
  {
    StreamLoader<at::Tensor> endless(
        [](int64_t) { return std::make_unique<CountingStream>(-1); },
        {.batch_size = 2, .num_workers = 4},
        [](std::vector<at::Tensor> items) {
          CountThisThread();
          return AnyBatch(StackItems(std::move(items)));
        });
    endless.StartEpoch(0);
    EXPECT_EQ(endless.Next()->size(), 2);
    EXPECT_EQ(LiveThreads(), 1) << "a stream has one reader";
  }
  EXPECT_EQ(LiveThreads(), 0);
}

// Rank 2 never gets a sample; its padding repeats one of the stream.
TEST(StreamLoaderTest, ShortStreamGivesEveryRankARow) {
  StreamLoader<at::Tensor> loader =
      LoaderOf(5, {.batch_size = 4, .rank = 2, .num_ranks = 3});
  loader.StartEpoch(0);
  const AnyBatch batch = *loader.Next();
  EXPECT_EQ(batch.size(), 0);
  EXPECT_EQ(batch.padding(), 1);
  EXPECT_EQ(batch.As<at::Tensor>()[0].item<int64_t>(), 0);
  EXPECT_FALSE(loader.Next().has_value());
}

TEST(StreamLoaderTest, RejectsAMissingStream) {
  EXPECT_THROW(StreamLoader<at::Tensor>(nullptr, {}), c10::ValueError);
  StreamLoader<at::Tensor> none(
      [](int64_t) { return std::unique_ptr<CountingStream>(); }, {});
  EXPECT_THROW(none.StartEpoch(0), c10::ValueError);
}

at::Tensor Tokens(const std::string& line) {
  return at::full({}, static_cast<int64_t>(line.size()));
}

class Lines final : public ItemStream<at::Tensor> {
 public:
  explicit Lines(const std::string& path) : file_(path) {}
  std::optional<at::Tensor> Next() override {
    std::string line;
    if (!std::getline(file_, line)) return std::nullopt;
    return Tokens(line);
  }

 private:
  std::ifstream file_;
};

TEST(StreamLoaderTest, HeaderExample) {
  std::filesystem::current_path(::testing::TempDir());
  std::ofstream("text.txt") << "a\nbc\ndef\n";
  int64_t used = 0;
  const auto Use = [&](const AnyBatch& batch) { used += batch.size(); };
  StreamLoader<at::Tensor> loader(
      [](int64_t) { return std::make_unique<Lines>("text.txt"); },
      {.batch_size = 32});
  loader.StartEpoch(0);
  while (const std::optional<AnyBatch> batch = loader.Next()) Use(*batch);
  EXPECT_EQ(used, 3);
}

}  // namespace
}  // namespace trainyard

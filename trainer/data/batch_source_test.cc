// What every BatchSource does, for Loader and StreamLoader alike.
#include "trainer/data/batch_source.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/testing/error_of.h"
#include "trainer/data/item_dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/sample_random.h"
#include "trainer/data/sampler.h"
#include "trainer/data/streaming/item_stream.h"
#include "trainer/data/streaming/stream_loader.h"
#include "trainer/data/testing/counting_stream.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using Numbers = std::vector<int64_t>;

constexpr int64_t kSeed = 5;

std::unique_ptr<BatchSource> MakeLoader(int64_t samples,
                                        const LoaderOptions& options) {
  return std::make_unique<Loader>(
      MakeItemDataset<at::Tensor>(
          samples, [](int64_t index) { return at::full({}, index); }),
      std::make_shared<ShuffledSampler>(samples, kSeed), options);
}

std::unique_ptr<BatchSource> MakeStreamLoader(int64_t samples,
                                              const LoaderOptions& options) {
  return std::make_unique<StreamLoader<at::Tensor>>(
      [samples](int64_t epoch) {
        return std::make_unique<ShuffledStream<at::Tensor>>(
            std::make_unique<CountingStream>(samples), /*buffer=*/6,
            EpochKey(kSeed, epoch));
      },
      options);
}

struct SourceCase {
  std::string name;
  std::function<std::unique_ptr<BatchSource>(int64_t samples,
                                             const LoaderOptions& options)>
      make;
};

Numbers Rows(const AnyBatch& batch) {
  const at::Tensor rows = batch.As<at::Tensor>().contiguous();
  return {rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()};
}

// All rows of the epoch's rest, padding included, a batch per entry.
std::vector<Numbers> Rest(BatchSource& source) {
  std::vector<Numbers> batches;
  while (const std::optional<AnyBatch> batch = source.Next())
    batches.push_back(Rows(*batch));
  return batches;
}

// The samples of the epoch's rest on all ranks together, in global order.
Numbers RestOfAll(std::vector<std::unique_ptr<BatchSource>>& ranks) {
  Numbers samples;
  while (true) {
    size_t ended = 0;
    for (const auto& rank : ranks) {
      if (const std::optional<AnyBatch> batch = rank->Next()) {
        const Numbers rows = Rows(batch->WithoutPadding());
        EXPECT_EQ(std::ssize(rows), batch->size());
        samples.insert(samples.end(), rows.begin(), rows.end());
      } else {
        ++ended;
      }
    }
    if (ended > 0) {
      EXPECT_EQ(ended, ranks.size()) << "some ranks ended before the others";
      return samples;
    }
  }
}

class BatchSourceTest : public ::testing::TestWithParam<SourceCase> {
 protected:
  std::unique_ptr<BatchSource> Make(int64_t samples,
                                    const LoaderOptions& options) {
    return GetParam().make(samples, options);
  }
  std::vector<std::unique_ptr<BatchSource>> MakeRanks(int64_t samples,
                                                      LoaderOptions options) {
    std::vector<std::unique_ptr<BatchSource>> ranks;
    for (options.rank = 0; options.rank < options.num_ranks; ++options.rank)
      ranks.push_back(Make(samples, options));
    return ranks;
  }
  // The epoch as one rank sees it, without workers.
  Numbers Epoch(int64_t samples, int64_t epoch) {
    auto source = MakeRanks(samples, {.batch_size = 1});
    source[0]->StartEpoch(epoch);
    return RestOfAll(source);
  }
};

TEST_P(BatchSourceTest, GivesNothingBeforeAnEpochIsStarted) {
  const auto source = Make(10, {.batch_size = 3});
  EXPECT_FALSE(source->Next().has_value());
  EXPECT_EQ(source->position(), 0);
}

TEST_P(BatchSourceTest, EpochsDifferAndRepeat) {
  const auto source = Make(20, {.batch_size = 3});
  source->StartEpoch(0);
  const std::vector<Numbers> first = Rest(*source);
  EXPECT_EQ(source->position(), 20);
  EXPECT_FALSE(source->Next().has_value()) << "after the end";
  source->StartEpoch(1);
  EXPECT_EQ(source->epoch(), 1);
  EXPECT_EQ(source->position(), 0);
  EXPECT_NE(Rest(*source), first);
  source->StartEpoch(0);
  EXPECT_EQ(Rest(*source), first);
}

TEST_P(BatchSourceTest, KnownLengthsAreTrue) {
  for (const LastBatch last :
       {LastBatch::kUneven, LastBatch::kPad, LastBatch::kDrop}) {
    const auto source = Make(20, {.batch_size = 3, .last_batch = last});
    const std::optional<int64_t> all = source->batches_per_epoch();
    source->StartEpoch(0);
    const std::optional<int64_t> left = source->batches_left();
    const int64_t counted = std::ssize(Rest(*source));
    EXPECT_EQ(all.value_or(counted), counted);
    EXPECT_EQ(left.value_or(counted), counted);
    EXPECT_EQ(source->batches_left().value_or(0), 0);
  }
}

TEST_P(BatchSourceTest, WorkersChangeNothing) {
  for (const LastBatch last : {LastBatch::kUneven, LastBatch::kPad}) {
    const auto plain = Make(23, {.batch_size = 4, .last_batch = last});
    plain->StartEpoch(2);
    const std::vector<Numbers> expected = Rest(*plain);
    for (const int64_t workers : {1, 2, 3}) {
      const auto source = Make(
          23, {.batch_size = 4, .last_batch = last, .num_workers = workers});
      source->StartEpoch(2);
      EXPECT_EQ(Rest(*source), expected) << workers;
    }
  }
}

TEST_P(BatchSourceTest, RanksShareEachEpoch) {
  for (const int64_t samples : {1, 5, 16, 23, 24}) {
    const Numbers all = Epoch(samples, 1);
    ASSERT_EQ(std::ssize(all), samples);
    for (const int64_t num_ranks : {1, 2, 3}) {
      for (const int64_t workers : {0, 2}) {
        auto ranks = MakeRanks(
            samples,
            {.batch_size = 4, .num_ranks = num_ranks, .num_workers = workers});
        for (const auto& rank : ranks) rank->StartEpoch(1);
        EXPECT_EQ(RestOfAll(ranks), all)
            << samples << " samples, " << num_ranks << " ranks";
        for (const auto& rank : ranks) EXPECT_EQ(rank->position(), samples);
      }
    }
  }
}

// Every rank's batches, padding included, are those of an uninterrupted epoch.
TEST_P(BatchSourceTest, ResumesAtAnyBatchToTheBit) {
  for (const LastBatch last :
       {LastBatch::kUneven, LastBatch::kPad, LastBatch::kDrop}) {
    for (const int64_t num_ranks : {1, 3}) {
      for (const int64_t workers : {0, 2}) {
        // 25 = 2 global batches of 12 and one sample, for rank 0.
        for (const int64_t samples : {25, 31}) {
          for (int64_t rank = 0; rank < num_ranks; ++rank) {
            const LoaderOptions options{.batch_size = 4,
                                        .last_batch = last,
                                        .rank = rank,
                                        .num_ranks = num_ranks,
                                        .num_workers = workers};
            const auto whole = Make(samples, options);
            whole->StartEpoch(3);
            const std::vector<Numbers> expected = Rest(*whole);
            for (size_t batches = 0; batches <= expected.size(); ++batches) {
              const auto first = Make(samples, options);
              first->StartEpoch(3);
              for (size_t i = 0; i < batches; ++i) first->Next();
              const auto second = Make(samples, options);
              second->LoadState(first->SaveState());
              EXPECT_EQ(second->epoch(), 3);
              EXPECT_EQ(second->position(), first->position());
              EXPECT_EQ(
                  Rest(*second),
                  std::vector<Numbers>(
                      expected.begin() + static_cast<std::ptrdiff_t>(batches),
                      expected.end()))
                  << "after " << batches << " batches on rank " << rank;
            }
          }
        }
      }
    }
  }
}

TEST_P(BatchSourceTest, ResumesWithAnotherNumberOfRanks) {
  const Numbers all = Epoch(31, 0);
  for (int64_t batches = 0; batches < 6; ++batches) {
    auto two =
        MakeRanks(31, {.batch_size = 3, .num_ranks = 2, .num_workers = 1});
    Numbers samples;
    for (const auto& rank : two) rank->StartEpoch(0);
    for (int64_t i = 0; i < batches; ++i) {
      for (const auto& rank : two) {
        const Numbers rows = Rows(rank->Next()->WithoutPadding());
        samples.insert(samples.end(), rows.begin(), rows.end());
      }
    }
    auto three = MakeRanks(31, {.batch_size = 5, .num_ranks = 3});
    for (const auto& rank : three) rank->LoadState(two[0]->SaveState());
    const Numbers rest = RestOfAll(three);
    samples.insert(samples.end(), rest.begin(), rest.end());
    EXPECT_EQ(samples, all) << "after " << batches << " batches";
  }
}

TEST_P(BatchSourceTest, RejectsEpochsAndSamplesThatDoNotExist) {
  const auto source = Make(10, {.batch_size = 3});
  source->StartEpoch(1);
  source->Next();
  const auto error_of = [&](int64_t epoch, int64_t sample) {
    return ErrorOf<c10::ValueError>([&] { source->StartEpoch(epoch, sample); });
  };
  EXPECT_THAT(error_of(-1, 0), HasSubstr("epoch is -1"));
  EXPECT_THAT(error_of(0, -1), HasSubstr("first_sample is -1"));
  EXPECT_THAT(error_of(0, 11), HasSubstr("first_sample is 11"));
  EXPECT_EQ(source->epoch(), 1) << "unchanged";
  EXPECT_EQ(source->position(), 3) << "unchanged";
  EXPECT_EQ(Rest(*source).size(), 3U) << "unchanged";
}

TEST_P(BatchSourceTest, RejectsAStateOfALaterVersion) {
  State later(2);
  later.Set("epoch", int64_t{0});
  later.Set("position", int64_t{0});
  later.Set("samples", int64_t{10});
  EXPECT_THROW(Make(10, {})->LoadState(later), std::invalid_argument);
}

TEST_P(BatchSourceTest, RejectsBadOptions) {
  const auto error_of = [&](const LoaderOptions& options) {
    return ErrorOf<c10::ValueError>([&] { Make(10, options); });
  };
  EXPECT_THAT(error_of({.batch_size = 0}), HasSubstr("batch_size is 0"));
  EXPECT_THAT(error_of({.rank = 2, .num_ranks = 2}), HasSubstr("rank is 2"));
  EXPECT_THAT(error_of({.num_ranks = 0}), HasSubstr("num_ranks is 0"));
  EXPECT_THAT(error_of({.num_workers = -1}), HasSubstr("num_workers is -1"));
  EXPECT_THAT(error_of({.num_workers = 1, .prefetch = 0}),
              HasSubstr("prefetch is 0"));
}

INSTANTIATE_TEST_SUITE_P(Sources, BatchSourceTest,
                         ::testing::Values(SourceCase{"Loader", MakeLoader},
                                           SourceCase{"StreamLoader",
                                                      MakeStreamLoader}),
                         [](const auto& tested) { return tested.param.name; });

class Countdown final : public BatchSource {
 public:
  std::optional<AnyBatch> Next() override {
    if (position_ == 10) return std::nullopt;
    return AnyBatch(at::full({1}, 10 - position_++));
  }
  int64_t position() const override { return position_; }

 private:
  void Start(int64_t, int64_t first_sample) override {
    position_ = first_sample;
  }
  int64_t position_ = 10;
};

TEST(OwnBatchSourceTest, HeaderExample) {
  Countdown source;
  int64_t sum = 0;
  const auto Use = [&](const AnyBatch& batch) { sum += Rows(batch)[0]; };
  source.StartEpoch(0);
  while (const std::optional<AnyBatch> batch = source.Next()) Use(*batch);
  EXPECT_EQ(sum, 55);

  source.StartEpoch(4, 7);
  Countdown resumed;
  resumed.LoadState(source.SaveState());
  EXPECT_EQ(resumed.epoch(), 4);
  EXPECT_EQ(Rows(*resumed.Next()), Numbers{3});
  EXPECT_FALSE(resumed.batches_left().has_value());
}

}  // namespace
}  // namespace trainyard

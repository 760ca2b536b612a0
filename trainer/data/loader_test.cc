#include "trainer/data/loader.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "backends/testing/standin/standin.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"
#include "trainer/accelerator.h"
#include "trainer/data/item_dataset.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/data/testing/live_threads.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

DatasetPtr Numbers(int64_t size) {
  return MakeTensorDataset(Example{at::arange(size), at::arange(size)});
}

DatasetPtr ItemNumbers(int64_t size) {
  return MakeItemDataset<Example>(size, [](int64_t i) {
    return Example{at::full({}, i), at::full({}, i)};
  });
}

std::shared_ptr<const Sampler> Shuffled(int64_t size) {
  return std::make_shared<ShuffledSampler>(size, 5);
}

// The rest of the epoch in one tensor.
at::Tensor Rest(Loader& loader) {
  std::vector<at::Tensor> batches;
  while (std::optional<AnyBatch> batch = loader.Next())
    batches.push_back(batch->As<Example>().input);
  return batches.empty() ? at::arange(0) : at::cat(batches);
}

TEST(LoaderTest, FollowsTheSamplerWithAnyNumberOfWorkers) {
  const auto sampler = Shuffled(100);
  for (const DatasetPtr& data : {Numbers(100), ItemNumbers(100)}) {
    for (const int64_t workers : {0, 1, 2, 4}) {
      Loader loader(data, sampler,
                    {.batch_size = 3, .num_workers = workers, .prefetch = 5});
      for (int64_t epoch = 0; epoch < 3; ++epoch) {
        loader.StartEpoch(epoch);
        EXPECT_TRUE(at::equal(Rest(loader), sampler->Order(epoch))) << epoch;
      }
    }
  }
}

TEST(LoaderTest, LastBatchIsSmallerOrPaddedOrDropped) {
  const auto data = Numbers(10);
  const auto in_order = std::make_shared<SequentialSampler>(10);
  Loader all(data, in_order, {.batch_size = 4});
  EXPECT_EQ(all.batches_per_epoch(), 3);
  all.StartEpoch(0);
  EXPECT_EQ(all.Next()->size(), 4);
  EXPECT_EQ(all.Next()->size(), 4);
  EXPECT_EQ(all.Next()->size(), 2);
  EXPECT_FALSE(all.Next().has_value());

  Loader even(data, in_order,
              {.batch_size = 4, .last_batch = LastBatch::kDrop});
  EXPECT_EQ(even.batches_per_epoch(), 2);
  even.StartEpoch(0);
  EXPECT_EQ(Rest(even).size(0), 8);

  Loader filled(data, in_order,
                {.batch_size = 4, .last_batch = LastBatch::kPad});
  filled.StartEpoch(0, 8);
  const AnyBatch last = *filled.Next();
  EXPECT_EQ(last.size(), 2);
  EXPECT_EQ(last.padding(), 2);
  EXPECT_THAT(
      std::vector<int64_t>(last.As<Example>().input.data_ptr<int64_t>(),
                           last.As<Example>().input.data_ptr<int64_t>() + 4),
      ::testing::ElementsAre(8, 9, 0, 1));
  EXPECT_EQ(last.WithoutPadding().As<Example>().input.size(0), 2);
}

TEST(LoaderTest, BatchMayBeLargerThanTheDataset) {
  Loader loader(Numbers(3), Shuffled(3), {.batch_size = 8});
  loader.StartEpoch(0);
  EXPECT_EQ(loader.Next()->size(), 3);
  EXPECT_FALSE(loader.Next().has_value());

  Loader padded(Numbers(3), Shuffled(3),
                {.batch_size = 8, .last_batch = LastBatch::kPad});
  padded.StartEpoch(0);
  EXPECT_EQ(padded.Next()->padding(), 5);
}

TEST(LoaderTest, StartsAtAnySampleOfAnEpoch) {
  const auto sampler = Shuffled(10);
  for (const int64_t workers : {0, 2}) {
    Loader loader(Numbers(10), sampler,
                  {.batch_size = 3, .num_workers = workers});
    for (int64_t first = 0; first <= 10; ++first) {
      loader.StartEpoch(4, first);
      EXPECT_EQ(loader.position(), first);
      EXPECT_TRUE(at::equal(Rest(loader), sampler->Order(4).slice(0, first)))
          << first;
      EXPECT_EQ(loader.position(), 10);
    }
  }
}

// Each sample is the epoch in which it was read, as augmented data would be.
TEST(LoaderTest, ReadsSamplesInTheEpochThatWasStarted) {
  class EpochNumbers final : public ItemDataset<at::Tensor> {
   public:
    int64_t size() const override { return 6; }
    at::Tensor Get(int64_t index) const override { return GetIn(-1, index); }
    at::Tensor GetIn(int64_t epoch, int64_t) const override {
      return at::full({}, epoch);
    }
  };
  for (const int64_t workers : {0, 2}) {
    Loader loader(std::make_shared<const EpochNumbers>(), Shuffled(6),
                  {.batch_size = 4, .num_workers = workers});
    for (const int64_t epoch : {0, 3}) {
      loader.StartEpoch(epoch);
      while (const std::optional<AnyBatch> batch = loader.Next()) {
        const at::Tensor numbers = batch->As<at::Tensor>();
        EXPECT_TRUE(at::equal(numbers, at::full_like(numbers, epoch)));
      }
    }
  }
}

TEST(LoaderTest, SavedPositionExcludesPrefetchedBatches) {
  const auto sampler = Shuffled(20);
  Loader first(Numbers(20), sampler,
               {.batch_size = 3, .num_workers = 2, .prefetch = 6});
  first.StartEpoch(7);
  first.Next();
  first.Next();
  EXPECT_EQ(first.batches_left(), 5);
  const State state = first.SaveState();

  Loader second(Numbers(20), sampler, {.batch_size = 4});
  second.LoadState(state);
  EXPECT_EQ(second.epoch(), 7);
  EXPECT_TRUE(at::equal(Rest(second), sampler->Order(7).slice(0, 6)));

  Loader other(Numbers(21), Shuffled(21), {.batch_size = 3});
  EXPECT_THROW(other.LoadState(state), c10::ValueError);
}

TEST(LoaderTest, ErrorNamesTheSampleAndTheNextBatchFollows) {
  const DatasetPtr data = MakeItemDataset<Example>(12, [](int64_t i) {
    if (i == 4) throw std::out_of_range("torn page");
    return Example{at::full({}, i), at::full({}, i)};
  });
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, std::make_shared<SequentialSampler>(12),
                  {.batch_size = 3, .num_workers = workers});
    loader.StartEpoch(0);
    EXPECT_EQ(loader.Next()->size(), 3);
    try {
      loader.Next();
      FAIL() << "nothing was thrown";
    } catch (const SampleError& error) {
      EXPECT_STREQ(error.what(), "sample 4: torn page");
    }
    EXPECT_EQ(loader.position(), 6);
    EXPECT_EQ(loader.Next()->As<Example>().input[0].item<int64_t>(), 6);
  }
}

TEST(LoaderTest, EndsItsThreads) {
  const DatasetPtr data = MakeItemDataset<at::Tensor>(100, [](int64_t i) {
    CountThisThread();
    return at::full({}, i);
  });
  {
    Loader loader(data, Shuffled(100), {.batch_size = 2, .num_workers = 3});
    loader.StartEpoch(0);
    loader.Next();
    loader.StartEpoch(1);
    Loader moved = std::move(loader);
    EXPECT_EQ(moved.Next()->size(), 2);
    EXPECT_GE(LiveThreads(), 1);
    EXPECT_LE(LiveThreads(), 3);
  }
  EXPECT_EQ(LiveThreads(), 0);
}

TEST(LoaderTest, WorkersUseOneThreadEach) {
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  const DatasetPtr data = MakeItemDataset<at::Tensor>(
      4, [](int64_t) { return at::full({}, at::get_num_threads()); });
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, Shuffled(4), {.batch_size = 4, .num_workers = workers});
    loader.StartEpoch(0);
    EXPECT_EQ(loader.Next()->As<at::Tensor>()[0].item<int>(),
              workers == 0 ? 3 : 1);
  }
  EXPECT_EQ(at::get_num_threads(), 3);
  at::set_num_threads(before);
}

TEST(LoaderTest, HeaderExample) {
  const DatasetPtr data = Numbers(300);
  int64_t used = 0;
  const auto Use = [&](const AnyBatch& batch) { used += batch.size(); };
  Loader loader(data, std::make_shared<ShuffledSampler>(data->size(), 1),
                {.batch_size = 128});
  loader.StartEpoch(0);
  while (const std::optional<AnyBatch> batch = loader.Next()) Use(*batch);
  EXPECT_EQ(used, 300);
}

TEST(LoaderTest, HeaderExampleOfResuming) {
  const int64_t epoch = 2;
  Loader loader(ItemNumbers(51300), Shuffled(51300), {.batch_size = 50});
  loader.StartEpoch(epoch, /*first_sample=*/51200);
  EXPECT_EQ(Rest(loader).size(0), 100);
}

// Sequences of 1 to 4 values, which no stacking can put together.
TEST(LoaderTest, CollatesSamplesByAFunction) {
  const DatasetPtr data = MakeItemDataset<at::Tensor>(
      4, [](int64_t i) { return at::full({i + 1}, i); });
  const CollateSamples join = [](std::vector<AnyBatch> samples) {
    std::vector<at::Tensor> rows;
    for (const AnyBatch& sample : samples)
      rows.push_back(sample.As<at::Tensor>()[0]);
    return AnyBatch(at::cat(rows));
  };
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, std::make_shared<SequentialSampler>(4),
                  {.batch_size = 2, .num_workers = workers}, join);
    loader.StartEpoch(0);
    EXPECT_TRUE(at::equal(loader.Next()->As<at::Tensor>(),
                          at::tensor({0, 1, 1}, at::kLong)));
    EXPECT_EQ(loader.Next()->size(), 7);
  }
}

// Each batch ends while its copy may still run.
TEST(LoaderTest, PinnedBatchesAreCopiedWithoutAWait) {
  if (!AcceleratorType()) GTEST_SKIP() << "there is no accelerator";
  const auto sampler = Shuffled(100);
  for (const int64_t workers : {0, 2}) {
    Loader loader(
        Numbers(100), sampler,
        {.batch_size = 3, .num_workers = workers, .pin_memory = true});
    loader.StartEpoch(0);
    std::vector<at::Tensor> copies;
    if (StandInIsRegistered()) ResetStandInCounts();
    while (std::optional<AnyBatch> batch = loader.Next()) {
      EXPECT_TRUE(batch->As<Example>().input.is_pinned());
      copies.push_back(batch->To(at::Device(TestDevice())).As<Example>().input);
    }
    if (StandInIsRegistered()) {
      EXPECT_EQ(StandInCounts().synchronizations, 0);
      EXPECT_EQ(StandInCounts().copies_to_device, 2 * 34);
    }
    EXPECT_TRUE(at::equal(at::cat(copies).cpu(), sampler->Order(0)));
  }
}

TEST(LoaderTest, RejectsBadOptions) {
  const auto with = [](LoaderOptions options) {
    return ErrorOf<c10::ValueError>(
        [&] { Loader(Numbers(10), Shuffled(10), options); });
  };
  EXPECT_THAT(with({.batch_size = 11, .last_batch = LastBatch::kDrop}),
              HasSubstr("10 samples do not fill one batch of 1 x 11"));
  if (!AcceleratorType()) {
    EXPECT_THAT(with({.pin_memory = true}), HasSubstr("no accelerator"));
  }
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [] { Loader(ItemNumbers(0), Shuffled(10), {}); }),
              HasSubstr("the dataset is empty"));
  EXPECT_THROW(Loader(nullptr, Shuffled(10), {}), c10::ValueError);
  EXPECT_THROW(Loader(Numbers(10), nullptr, {}), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/loader.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <vector>

#include "trainer/data/tensor_dataset.h"

namespace trainyard {
namespace {

DatasetPtr Numbers(int64_t size) {
  return MakeTensorDataset(Example{at::arange(size), at::arange(size)});
}

std::shared_ptr<const Sampler> Shuffled(int64_t size) {
  return std::make_shared<ShuffledSampler>(size, 5);
}

// What is left of the epoch, in one tensor.
at::Tensor Rest(Loader& loader) {
  std::vector<at::Tensor> batches;
  while (std::optional<AnyBatch> batch = loader.Next())
    batches.push_back(batch->As<Example>().input);
  return batches.empty() ? at::arange(0) : at::cat(batches);
}

TEST(LoaderTest, FollowsTheSampler) {
  const auto sampler = Shuffled(10);
  Loader loader(Numbers(10), sampler, {.batch_size = 3});
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    loader.StartEpoch(epoch);
    EXPECT_TRUE(at::equal(Rest(loader), sampler->Order(epoch))) << epoch;
  }
}

TEST(LoaderTest, LastBatchIsSmallerOrLeftOut) {
  Loader all(Numbers(10), Shuffled(10), {.batch_size = 4});
  EXPECT_EQ(all.batches_per_epoch(), 3);
  all.StartEpoch(0);
  EXPECT_EQ(all.Next()->size(), 4);
  EXPECT_EQ(all.Next()->size(), 4);
  EXPECT_EQ(all.Next()->size(), 2);
  EXPECT_FALSE(all.Next().has_value());

  Loader even(Numbers(10), Shuffled(10), {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(even.batches_per_epoch(), 2);
  even.StartEpoch(0);
  EXPECT_EQ(Rest(even).size(0), 8);
}

TEST(LoaderTest, StartsAnywhereInAnEpoch) {
  const auto sampler = Shuffled(10);
  Loader loader(Numbers(10), sampler, {.batch_size = 3});
  for (int64_t first = 0; first <= loader.batches_per_epoch(); ++first) {
    loader.StartEpoch(4, first);
    EXPECT_TRUE(at::equal(Rest(loader), sampler->Order(4).slice(0, first * 3)))
        << first;
  }
  EXPECT_THROW(loader.StartEpoch(0, 5), c10::ValueError);
  EXPECT_THROW(loader.StartEpoch(0, -1), c10::ValueError);
}

TEST(LoaderTest, GivesNothingBeforeAnEpochIsStarted) {
  Loader loader(Numbers(10), Shuffled(10), {.batch_size = 3});
  EXPECT_FALSE(loader.Next().has_value());
}

TEST(LoaderTest, RefusesBadOptions) {
  EXPECT_THROW(Loader(Numbers(10), Shuffled(10), {.batch_size = 0}),
               c10::ValueError);
  EXPECT_THROW(
      Loader(Numbers(10), Shuffled(10), {.batch_size = 11, .drop_last = true}),
      c10::ValueError);
  EXPECT_THROW(Loader(nullptr, Shuffled(10), {.batch_size = 1}),
               c10::ValueError);
  EXPECT_THROW(Loader(Numbers(10), nullptr, {.batch_size = 1}),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

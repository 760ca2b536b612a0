#include "trainer/data/load_options.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tools/testing/error_of.h"
#include "trainer/data/samplers/subset.h"
#include "trainer/data/tensor_dataset.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

DatasetPtr Numbers(int64_t size) { return MakeTensorDataset(at::arange(size)); }

at::Tensor First(BatchSource& source, int64_t epoch = 0) {
  source.StartEpoch(epoch);
  return source.Next()->As<at::Tensor>();
}

TEST(LoadOptionsTest, HeaderExample) {
  const DatasetPtr data = Numbers(100);
  const LoadOptions load{.num_workers = 2, .last_batch = LastBatch::kDrop};
  std::unique_ptr<BatchSource> source =
      LoadShuffled({.data = data, .batch_size = 32, .seed = 1, .load = load});
  EXPECT_EQ(source->batches_per_epoch(), 3);
}

TEST(LoadOptionsTest, OrderFollowsTheSeedTheSamplerOrTheDataset) {
  const DatasetPtr data = Numbers(20);
  const ShuffledSampler shuffled(20, 7);
  EXPECT_TRUE(at::equal(
      First(*LoadShuffled({.data = data, .batch_size = 20, .seed = 7}), 3),
      shuffled.Order(3)));
  EXPECT_TRUE(at::equal(First(*LoadInOrder({.data = data, .batch_size = 20})),
                        at::arange(20)));
  const at::Tensor chosen = at::tensor({3, 1}, at::kLong);
  const LoadOptions load{.sampler = std::make_shared<SubsetSampler>(chosen)};
  for (const auto& make : {LoadShuffled, LoadInOrder}) {
    EXPECT_TRUE(at::equal(
        First(*make({.data = data, .batch_size = 2, .load = load})), chosen));
  }
}

TEST(LoadOptionsTest, PassesEveryOptionToTheLoader) {
  const DatasetPtr data = Numbers(10);
  const LoadOptions load{
      .num_workers = 2,
      .last_batch = LastBatch::kPad,
      .collate = [](std::vector<AnyBatch> samples) {
        return AnyBatch(ConcatBatches(samples).As<at::Tensor>().mul(2));
      }};
  const auto source = LoadInOrder(
      {.data = data, .batch_size = 4, .rank = 1, .num_ranks = 2, .load = load});
  EXPECT_TRUE(at::equal(First(*source), at::arange(8, 16, 2)));
  EXPECT_EQ(source->Next()->padding(), 4);
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] {
        LoadInOrder(
            {.data = data, .batch_size = 4, .load = {.num_workers = -1}});
      }),
      HasSubstr("num_workers is -1"));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] {
        LoadInOrder({.data = data, .batch_size = 4, .load = {.prefetch = 0}});
      }),
      HasSubstr("prefetch is 0"));
  EXPECT_THAT(ErrorOf<c10::ValueError>([] { LoadShuffled({.batch_size = 4}); }),
              HasSubstr("there is no data to load"));
}

TEST(LoadOptionsTest, ToStringNamesWhatIsSet) {
  EXPECT_EQ(ToString(LoadOptions{}), "workers 0, last batch uneven");
  EXPECT_EQ(ToString(LoadOptions{.num_workers = 2,
                                 .pin_memory = true,
                                 .last_batch = LastBatch::kDrop}),
            "workers 2, prefetch 4, pinned, last batch dropped");
  EXPECT_EQ(
      ToString(LoadOptions{.last_batch = LastBatch::kPad,
                           .sampler = std::make_shared<SequentialSampler>(2),
                           .collate =
                               [](std::vector<AnyBatch> samples) {
                                 return ConcatBatches(samples);
                               }}),
      "workers 0, last batch padded, own sampler, own collate");
}

}  // namespace
}  // namespace trainyard

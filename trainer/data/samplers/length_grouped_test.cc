#include "trainer/data/samplers/length_grouped.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

// Rows that padding each batch to its longest would add, per real one.
double Waste(const at::Tensor& lengths, const at::Tensor& order,
             int64_t batch) {
  double padded = 0;
  for (int64_t i = 0; i < order.size(0); i += batch) {
    const at::Tensor rows =
        lengths.index_select(0, order.slice(0, i, i + batch));
    padded += rows.max().item<double>() * static_cast<double>(rows.size(0));
  }
  return padded / lengths.sum().item<double>() - 1;
}

TEST(LengthGroupedSamplerTest, EachSampleOnceWithLittlePadding) {
  const at::Tensor lengths = at::randint(1, 500, {5003});
  const LengthGroupedSampler sampler(lengths, {.batch_size = 16, .seed = 1});
  const at::Tensor order = sampler.Order(2);
  EXPECT_TRUE(at::equal(std::get<0>(order.sort()), at::arange(5003)));
  EXPECT_GT(Waste(lengths, ShuffledSampler(5003, 1).Order(2), 16), 0.5);
  EXPECT_LT(Waste(lengths, order, 16), 0.05);
}

TEST(LengthGroupedSamplerTest, LongestFirstAndTheRestShuffled) {
  const at::Tensor lengths = at::arange(1000);
  const LengthGroupedSampler sampler(lengths, {.batch_size = 10, .seed = 1});
  const at::Tensor order = sampler.Order(0);
  EXPECT_EQ(order[0].item<int>(), 999);
  // Not sorted from there on: batches of long and short samples take turns.
  const at::Tensor firsts = order.view({100, 10}).select(1, 0);
  const int64_t rises = firsts.diff().gt(0).sum().item<int64_t>();
  EXPECT_GT(rises, 30);
  EXPECT_LT(rises, 70);
}

TEST(LengthGroupedSamplerTest, DependsOnSeedAndEpochOnly) {
  const at::Tensor lengths = at::arange(100);
  const LengthGroupedSampler sampler(lengths, {.batch_size = 8, .seed = 1});
  EXPECT_TRUE(at::equal(sampler.Order(3), sampler.Order(3)));
  EXPECT_FALSE(at::equal(sampler.Order(3), sampler.Order(4)));
}

TEST(LengthGroupedSamplerTest, BatchMayBeLargerThanTheDataset) {
  const LengthGroupedSampler sampler(at::arange(5), {.batch_size = 8});
  EXPECT_TRUE(at::equal(std::get<0>(sampler.Order(0).sort()), at::arange(5)));
}

TEST(LengthGroupedSamplerTest, RejectsBadOptions) {
  const auto make = [](const at::Tensor& lengths,
                       LengthGroupedSamplerOptions options = {}) {
    LengthGroupedSampler(lengths, options);
  };
  EXPECT_THROW(make(at::Tensor()), c10::ValueError);
  EXPECT_THROW(make(at::arange(0)), c10::ValueError);
  EXPECT_THROW(make(at::arange(3), {.batch_size = 0}), c10::ValueError);
  EXPECT_THROW(make(at::arange(3), {.pool_batches = 0}), c10::ValueError);
}

TEST(LengthGroupedSamplerTest, HeaderExample) {
  const at::Tensor lengths = at::randint(1, 100, {64}, at::kLong);
  LengthGroupedSampler sampler(lengths, {.batch_size = 32, .seed = 1});
  EXPECT_EQ(sampler.Order(0).numel(), 64);
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/sampler.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(SequentialSamplerTest, IsTheSameEachEpoch) {
  const SequentialSampler sampler(5);
  EXPECT_TRUE(at::equal(sampler.Order(0), at::arange(5)));
  EXPECT_TRUE(at::equal(sampler.Order(7), at::arange(5)));
}

TEST(ShuffledSamplerTest, HasEverySampleOnce) {
  const ShuffledSampler sampler(1000, /*seed=*/3);
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    EXPECT_TRUE(
        at::equal(std::get<0>(sampler.Order(epoch).sort()), at::arange(1000)))
        << epoch;
  }
}

TEST(ShuffledSamplerTest, DependsOnSeedAndEpochOnly) {
  const ShuffledSampler sampler(100, /*seed=*/3);
  const at::Tensor third = sampler.Order(2);
  EXPECT_TRUE(at::equal(ShuffledSampler(100, 3).Order(2), third));
  EXPECT_FALSE(at::equal(sampler.Order(3), third));
  EXPECT_FALSE(at::equal(ShuffledSampler(100, 4).Order(2), third));
  EXPECT_FALSE(at::equal(ShuffledSampler(100, 2).Order(3), third));
}

TEST(ShuffledSamplerTest, DoesNotUseTheGlobalGenerator) {
  at::manual_seed(1);
  const at::Tensor expected = at::rand({4});
  at::manual_seed(1);
  ShuffledSampler(100, 3).Order(0);
  EXPECT_TRUE(at::equal(at::rand({4}), expected));
}

TEST(SamplerTest, RejectsAnEmptyDataset) {
  EXPECT_THROW(SequentialSampler(0), c10::ValueError);
  EXPECT_THROW(ShuffledSampler(0, 1), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

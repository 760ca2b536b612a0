#include "trainer/data/samplers/weighted.h"

#include <ATen/ops/bincount.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

const at::Tensor& Weights() {
  static const at::Tensor weights = at::tensor({1.0, 0.0, 3.0, 6.0, 0.0});
  return weights;
}

TEST(WeightedSamplerTest, TakesSamplesByWeight) {
  const WeightedSampler sampler(Weights(), {.num_samples = 20000, .seed = 1});
  const at::Tensor counts = at::bincount(sampler.Order(0), {}, 5);
  EXPECT_EQ(sampler.size(), 20000);
  EXPECT_NEAR(counts[0].item<int>(), 2000, 200);
  EXPECT_EQ(counts[1].item<int>(), 0);
  EXPECT_NEAR(counts[2].item<int>(), 6000, 300);
  EXPECT_NEAR(counts[3].item<int>(), 12000, 300);
  EXPECT_EQ(counts[4].item<int>(), 0);
}

TEST(WeightedSamplerTest, WithoutReplacementTakesEachOnceHeavyOnesFirst) {
  int heavy_first = 0, light_first = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const WeightedSampler sampler(
        Weights(), {.num_samples = 3, .replacement = false, .seed = seed});
    const at::Tensor order = sampler.Order(0);
    ASSERT_TRUE(
        at::equal(std::get<0>(order.sort()), at::tensor({0, 2, 3}, at::kLong)));
    heavy_first += order[0].item<int>() == 3;
    light_first += order[0].item<int>() == 0;
  }
  EXPECT_NEAR(heavy_first, 2400, 150);  // six tenths of the weight
  EXPECT_NEAR(light_first, 400, 90);
}

TEST(WeightedSamplerTest, DependsOnSeedAndEpochOnly) {
  for (const bool replacement : {true, false}) {
    const at::Tensor weights = at::ones({100});
    const WeightedSampler a(weights, {.replacement = replacement, .seed = 1});
    const WeightedSampler b(weights, {.replacement = replacement, .seed = 2});
    EXPECT_EQ(a.size(), 100);
    EXPECT_TRUE(at::equal(a.Order(3), a.Order(3)));
    EXPECT_FALSE(at::equal(a.Order(3), a.Order(4)));
    EXPECT_FALSE(at::equal(a.Order(3), b.Order(3)));
  }
}

TEST(WeightedSamplerTest, RejectsBadOptions) {
  const auto make = [](const at::Tensor& weights,
                       WeightedSamplerOptions options = {}) {
    WeightedSampler(weights, options);
  };
  EXPECT_THROW(make(at::Tensor()), c10::ValueError);
  EXPECT_THROW(make(at::ones({2, 2})), c10::ValueError);
  EXPECT_THROW(make(at::tensor({0.0, 0.0})), c10::ValueError);
  EXPECT_THROW(make(at::tensor({1.0, -1.0})), c10::ValueError);
  EXPECT_THROW(make(at::tensor({1.0, NAN})), c10::ValueError);
  EXPECT_THROW(make(at::ones({2}), {.num_samples = -1}), c10::ValueError);
  EXPECT_THROW(make(Weights(), {.replacement = false}), c10::ValueError);
}

TEST(WeightedSamplerTest, HeaderExample) {
  WeightedSampler sampler(at::tensor({1.0, 1.0, 8.0}), {.seed = 1});
  EXPECT_EQ(sampler.Order(0).numel(), 3);
  sampler.Order(0);  // 2 about 8 times in 10
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/samplers/subset.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(SubsetSamplerTest, HeaderExample) {
  SubsetSampler sampler(at::tensor({3, 5, 8}, at::kLong), /*seed=*/1);
  EXPECT_EQ(sampler.size(), 3);
  EXPECT_TRUE(at::equal(std::get<0>(sampler.Order(0).sort()),
                        at::tensor({3, 5, 8}, at::kLong)));
}

TEST(SubsetSamplerTest, ShufflesAnewEachEpochOrNotAtAll) {
  const at::Tensor indices = at::arange(100, 200);
  const SubsetSampler shuffled(indices, 1);
  EXPECT_FALSE(at::equal(shuffled.Order(0), shuffled.Order(1)));
  EXPECT_TRUE(at::equal(shuffled.Order(1), shuffled.Order(1)));
  EXPECT_TRUE(at::equal(SubsetSampler(indices).Order(5), indices));
}

TEST(SubsetSamplerTest, RefusesWhatAreNotIndices) {
  EXPECT_THROW(SubsetSampler{at::Tensor()}, c10::ValueError);
  EXPECT_THROW(SubsetSampler(at::arange(0)), c10::ValueError);
  EXPECT_THROW(SubsetSampler(at::ones({3})), c10::ValueError);
  EXPECT_THROW(SubsetSampler(at::arange(4).view({2, 2})), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/transforms/normalize.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(NormalizeTest, HeaderExample) {
  const Normalize normalize({.mean = {0.1307}, .deviation = {0.3081}});
  const at::Tensor bytes = at::randint(0, 256, {5, 28, 28}, at::kByte);
  const at::Tensor floats = normalize(bytes);
  EXPECT_EQ(floats.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(
      floats, bytes.to(at::kFloat).div_(255).sub_(0.1307).div_(0.3081), 1e-5,
      1e-6));
}

TEST(NormalizeTest, ChannelsHaveTheirOwnMeanAndDeviation) {
  const Normalize normalize(
      {.mean = {0.1, 0.2, 0.3}, .deviation = {0.5, 0.6, 0.7}});
  // Large enough for several threads.
  const at::Tensor bytes = at::randint(0, 256, {9, 3, 96, 96}, at::kByte);
  const at::Tensor mean = at::tensor({0.1f, 0.2f, 0.3f}).view({3, 1, 1});
  const at::Tensor deviation = at::tensor({0.5f, 0.6f, 0.7f}).view({3, 1, 1});
  const at::Tensor want =
      bytes.to(at::kFloat).div_(255).sub_(mean).div_(deviation);
  EXPECT_TRUE(at::allclose(normalize(bytes), want, 1e-5, 1e-6));
  // Not contiguous, and not bytes.
  EXPECT_TRUE(
      at::allclose(normalize(bytes.contiguous(at::MemoryFormat::ChannelsLast)),
                   want, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(normalize(bytes.to(at::kInt)), want, 1e-5, 1e-6));
}

TEST(NormalizeTest, MaxValueOfOneKeepsTheScale) {
  const Normalize normalize({.mean = {0.5}, .deviation = {2}, .max_value = 1});
  EXPECT_TRUE(at::allclose(normalize(at::arange(4).to(at::kFloat)),
                           at::tensor({-0.25f, 0.25f, 0.75f, 1.25f})));
}

TEST(NormalizeTest, RejectsInvalidArguments) {
  EXPECT_THROW(Normalize({.mean = {}, .deviation = {}}), c10::ValueError);
  EXPECT_THROW(Normalize({.mean = {0, 0}}), c10::ValueError);
  EXPECT_THROW(Normalize({.deviation = {0}}), c10::ValueError);
  EXPECT_THROW(Normalize({.max_value = 0}), c10::ValueError);
  const Normalize rgb({.mean = {0, 0, 0}, .deviation = {1, 1, 1}});
  EXPECT_THROW(rgb(at::zeros({2, 1, 4, 4})), c10::ValueError);
  EXPECT_THROW(rgb(at::zeros({3, 4, 4})), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

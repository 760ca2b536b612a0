#include "trainer/data/transforms/cutout.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

BatchRandom Random(int64_t rows) {
  return BatchRandomOf(at::arange(rows), 1, 0);
}

TEST(CutoutTest, BlanksASquareInEachImageAndAllPlanes) {
  const at::Tensor images = at::ones({50, 2, 9, 9});
  BatchRandom random = Random(50);
  const at::Tensor cut = Cutout(images, {.size = 4, .fill = 0}, random);
  EXPECT_TRUE(at::equal(cut.select(1, 0), cut.select(1, 1)));
  EXPECT_EQ(images.sum().item<int>(), 50 * 2 * 81);  // as it was
  bool whole = false, clipped = false;
  for (int64_t i = 0; i < 50; ++i) {
    const auto blank = 81 - cut[i][0].sum().item<int64_t>();
    EXPECT_GE(blank, 4);  // in a corner, a quarter of it
    EXPECT_LE(blank, 16);
    whole |= blank == 16;
    clipped |= blank < 16;
  }
  EXPECT_TRUE(whole);
  EXPECT_TRUE(clipped);
}

TEST(CutoutTest, ProbabilityZeroChangesNothing) {
  const at::Tensor images = at::ones({5, 3, 3});
  BatchRandom random = Random(5);
  EXPECT_TRUE(at::equal(Cutout(images, {.probability = 0}, random), images));
  EXPECT_THROW(Cutout(images, {.size = 0}, random), c10::ValueError);
  EXPECT_THROW(Cutout(images, {.probability = -1}, random), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

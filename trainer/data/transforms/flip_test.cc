#include "trainer/data/transforms/flip.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

BatchRandom Random(int64_t rows) {
  return BatchRandomOf(at::arange(rows), 1, 0);
}

TEST(RandomFlipTest, MirrorsAboutHalfOfTheImages) {
  const at::Tensor images = at::arange(200 * 6).view({200, 2, 3});
  for (const bool vertical : {false, true}) {
    BatchRandom random = Random(200);
    const at::Tensor mirrored = images.flip(vertical ? -2 : -1);
    const at::Tensor before = images.clone();
    const at::Tensor result =
        RandomFlip(images, {.vertical = vertical}, random);
    int flipped = 0;
    for (int64_t i = 0; i < 200; ++i) {
      const bool is_flipped = at::equal(result[i], mirrored[i]);
      ASSERT_TRUE(is_flipped || at::equal(result[i], images[i]));
      flipped += is_flipped;
    }
    EXPECT_NEAR(flipped, 100, 30);
    EXPECT_TRUE(at::equal(images, before));  // the source stays as it is
  }
}

TEST(RandomFlipTest, ProbabilityZeroAndOne) {
  const at::Tensor images = at::arange(12).view({2, 2, 3});
  BatchRandom random = Random(2);
  EXPECT_TRUE(
      at::equal(RandomFlip(images, {.probability = 0}, random), images));
  EXPECT_TRUE(at::equal(RandomFlip(images, {.probability = 1}, random),
                        images.flip(-1)));
  EXPECT_THROW(RandomFlip(images, {.probability = 1.5}, random),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

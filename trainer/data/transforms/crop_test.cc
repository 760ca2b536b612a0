#include "trainer/data/transforms/crop.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <set>

namespace trainyard {
namespace {

BatchRandom Random(int64_t rows, int64_t epoch = 0) {
  return BatchRandomOf(at::arange(rows), 1, epoch);
}

TEST(RandomCropTest, EachCropIsAPartOfThePaddedImage) {
  for (const at::ScalarType type : {at::kByte, at::kFloat}) {
    const at::Tensor images = at::arange(40 * 2 * 5 * 4)
                                  .remainder(200)
                                  .add(1)
                                  .to(type)
                                  .view({40, 2, 5, 4});
    BatchRandom random = Random(40);
    const at::Tensor crops = RandomCrop(
        images, {.height = 4, .width = 4, .padding = 1, .fill = 7}, random);
    const at::Tensor padded = PadImages(images, 1, 7);
    std::set<std::pair<int64_t, int64_t>> places;
    for (int64_t i = 0; i < 40; ++i) {
      int found = 0;
      for (int64_t y = 0; y <= 3; ++y) {
        for (int64_t x = 0; x <= 2; ++x) {
          if (at::equal(crops[i], padded[i].narrow(1, y, 4).narrow(2, x, 4))) {
            ++found;
            places.emplace(y, x);
          }
        }
      }
      ASSERT_EQ(found, 1) << i;
    }
    EXPECT_GT(places.size(), 8U);  // of 12: 40 draws leave few out
  }
}

TEST(RandomCropTest, DependsOnTheSampleOnly) {
  const at::Tensor images = at::arange(6 * 8 * 8).view({6, 8, 8});
  const RandomCropOptions options{.height = 5, .width = 5};
  BatchRandom all = Random(6), other = Random(6, 1);
  const at::Tensor crops = RandomCrop(images, options, all);
  BatchRandom last = {Random(6)[5]};
  EXPECT_TRUE(
      at::equal(RandomCrop(images.slice(0, 5), options, last)[0], crops[5]));
  EXPECT_FALSE(at::equal(RandomCrop(images, options, other), crops));
}

TEST(RandomCropTest, CropMayBePaddingOnly) {
  BatchRandom random = Random(50);
  EXPECT_EQ(
      RandomCrop(at::zeros({50, 1, 1}),
                 {.height = 1, .width = 1, .padding = 3, .fill = 1}, random)
          .sum()
          .item<int>(),
      49);  // one of the 50 hits the only pixel
}

TEST(RandomCropTest, RejectsInvalidArguments) {
  BatchRandom two = Random(2);
  const at::Tensor images = at::zeros({2, 4, 4});
  EXPECT_THROW(RandomCrop(images, {.height = 5, .width = 4}, two),
               c10::ValueError);
  EXPECT_THROW(RandomCrop(images, {.height = 0, .width = 4}, two),
               c10::ValueError);
  EXPECT_THROW(
      RandomCrop(images, {.height = 1, .width = 1, .padding = -1}, two),
      c10::ValueError);
  EXPECT_THROW(RandomCrop(at::zeros({4, 4}), {}, two), c10::ValueError);
  EXPECT_THROW(RandomCrop(at::zeros({3, 4, 4}), {}, two), c10::ValueError);
  EXPECT_THROW(PadImages(images, -1), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

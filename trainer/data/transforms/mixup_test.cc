#include "trainer/data/transforms/mixup.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

constexpr int64_t kRows = 60;

BatchRandom Random() { return BatchRandomOf(at::arange(kRows), 1, 0); }

// Image i is all i; its class is i.
Example Batch() {
  return {at::arange(kRows)
              .to(at::kFloat)
              .view({kRows, 1, 1, 1})
              .expand({kRows, 2, 8, 8}),
          at::arange(kRows)};
}

// What both have in common: an image's mean and its target tell the same
// shares.
void ExpectSharesOfTheRowBefore(const Example& mixed) {
  EXPECT_EQ(mixed.target.sizes(), (at::IntArrayRef{kRows, kRows}));
  EXPECT_TRUE(at::allclose(mixed.target.sum(1), at::ones({kRows})));
  for (int64_t i = 0; i < kRows; ++i) {
    const int64_t other = (i + kRows - 1) % kRows;
    const auto own = mixed.target[i][i].item<float>();
    EXPECT_NEAR(own + mixed.target[i][other].item<float>(), 1, 1e-6);
    EXPECT_NEAR(
        mixed.input[i].mean().item<float>(),
        own * static_cast<float>(i) + (1 - own) * static_cast<float>(other),
        1e-3);
  }
  const at::Tensor own = mixed.target.diagonal();
  EXPECT_LT(own.min().item<float>(), 0.5);
  EXPECT_GT(own.max().item<float>(), 0.7);
}

TEST(MixupTest, BlendsImagesAndTargetsAlike) {
  BatchRandom random = Random();
  const Example mixed = Mixup(Batch(), {.num_classes = kRows}, random);
  ExpectSharesOfTheRowBefore(mixed);
  EXPECT_NEAR(mixed.input[5].std().item<float>(), 0, 1e-5);
}

TEST(CutmixTest, PastesABoxAndSharesTargetsByPixels) {
  BatchRandom random = Random();
  const Example batch = Batch();
  const Example mixed = Cutmix(batch, {.num_classes = kRows}, random);
  ExpectSharesOfTheRowBefore(mixed);
  const at::Tensor own = mixed.input[5].eq(5);
  EXPECT_TRUE(own.logical_or(mixed.input[5].eq(4)).all().item<bool>());
  EXPECT_EQ(batch.input[5].mean().item<float>(), 5);  // as it was
}

TEST(MixupTest, RejectsBadOptions) {
  BatchRandom random = Random();
  EXPECT_THROW(Mixup(Batch(), {.alpha = 0, .num_classes = kRows}, random),
               c10::ValueError);
  EXPECT_THROW(Mixup(Batch(), {}, random), c10::ValueError);
  EXPECT_THROW(Cutmix({at::zeros({kRows, 2, 2}, at::kByte), at::arange(kRows)},
                      {.num_classes = kRows}, random),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

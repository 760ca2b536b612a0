#include "finetuning/ema_decay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace trainyard {
namespace {

TEST(EmaDecayTest, HeaderExample) {
  EmaDecay decay({.decay = 0.999, .warmup = EmaWarmup::kRamp});
  const double first = decay.At(1);
  EXPECT_EQ(first, 0);
}

TEST(EmaDecayTest, IsConstantWithoutWarmup) {
  const EmaDecay decay({.decay = 0.99});
  EXPECT_EQ(decay.At(1), 0.99);
  EXPECT_EQ(decay.At(1000), 0.99);
}

TEST(EmaDecayTest, RampStartsWithACopyAndReachesTheDecay) {
  const EmaDecay decay({.decay = 0.99, .warmup = EmaWarmup::kRamp});
  EXPECT_EQ(decay.At(1), 0);
  EXPECT_DOUBLE_EQ(decay.At(8), 1 - std::pow(8, -2.0 / 3));  // 3/4
  EXPECT_EQ(decay.At(1000), 0.99);
}

TEST(EmaDecayTest, PowerIsTheFormulaOfKarras) {
  const EmaDecay decay(
      {.decay = 0.999, .warmup = EmaWarmup::kPower, .gamma = 6.94});
  EXPECT_EQ(decay.At(1), 0);
  EXPECT_DOUBLE_EQ(decay.At(100), std::pow(0.99, 7.94));
  EXPECT_EQ(decay.At(1000000), 0.999);
}

TEST(EmaDecayTest, RejectsInvalidOptions) {
  EXPECT_THROW(EmaDecay({.decay = -0.1}), std::invalid_argument);
  EXPECT_THROW(EmaDecay({.decay = 1.1}), std::invalid_argument);
  EXPECT_THROW(EmaDecay({.decay = NAN}), std::invalid_argument);
  EXPECT_THROW(EmaDecay({.gamma = 0}), std::invalid_argument);
  EXPECT_THROW(EmaDecay({.power = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

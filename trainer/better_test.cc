#include "trainer/better.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainyard {
namespace {

TEST(BetterTest, IsByMoreThanTheThreshold) {
  EXPECT_TRUE(Improves(4, 5, Better::kLower));
  EXPECT_FALSE(Improves(5, 5, Better::kLower));
  EXPECT_FALSE(Improves(4, 5, Better::kHigher));
  EXPECT_TRUE(Improves(6, 5, Better::kHigher, 0.5));
  EXPECT_FALSE(Improves(5.5, 5, Better::kHigher, 0.5));
}

TEST(BetterTest, AnyNumberIsBetterThanNone) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Improves(5, std::nullopt, Better::kLower));
  EXPECT_FALSE(Improves(kNan, std::nullopt, Better::kLower));
  EXPECT_FALSE(Improves(kNan, 5, Better::kLower));
}

}  // namespace
}  // namespace trainyard

#include "schedulers/ramp.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(RampTest, HeaderExample) {
  const Ramp warmup(10, {.ratio = 0.1});
  EXPECT_EQ(warmup.updates(), 10);
  EXPECT_EQ(warmup.ValueAt(0, 1.0, 1.0), 0.1);
  EXPECT_DOUBLE_EQ(warmup.ValueAt(9, 1.0, 1.0), 0.91);
}

TEST(RampTest, EndsWhereItIsTold) {
  const Ramp warmup(4, {.value = 1});
  EXPECT_EQ(warmup.ValueAt(2, 100.0, 5.0), 3.0);
  EXPECT_EQ(warmup.ValueAt(3, 100.0, 1.0), 1.0);
}

}  // namespace
}  // namespace trainyard

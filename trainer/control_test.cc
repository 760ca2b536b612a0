#include "trainer/control.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(ControlTest, StartsWithoutARequest) {
  const Control control;
  EXPECT_FALSE(control.stop_requested());
  EXPECT_EQ(control.reason(), "");
}

TEST(ControlTest, KeepsTheFirstReason) {
  Control control;
  control.RequestStop("no improvement");
  control.RequestStop("out of time");
  EXPECT_TRUE(control.stop_requested());
  EXPECT_EQ(control.reason(), "no improvement");
}

TEST(ControlTest, ResetForgetsTheRequest) {
  Control control;
  control.RequestStop("no improvement");
  control.Reset();
  EXPECT_FALSE(control.stop_requested());
  EXPECT_EQ(control.reason(), "");
}

}  // namespace
}  // namespace trainyard

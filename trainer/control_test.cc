#include "trainer/control.h"

#include <gtest/gtest.h>

#include <stdexcept>

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

TEST(ControlTest, RequestsAreTakenOnce) {
  Control control;
  control.RequestEvaluation();
  control.RequestCheckpoint();
  EXPECT_TRUE(control.requested());
  EXPECT_FALSE(control.stop_requested());
  EXPECT_TRUE(control.TakeEvaluationRequest());
  EXPECT_TRUE(control.TakeCheckpointRequest());
  EXPECT_FALSE(control.requested());
  EXPECT_FALSE(control.TakeEvaluationRequest());
}

TEST(ControlTest, WithoutAHandlerThereAreNoCallbacks) {
  EXPECT_THROW(Control().callbacks(), std::logic_error);
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

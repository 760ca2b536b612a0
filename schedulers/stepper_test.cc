#include "schedulers/stepper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/constant.h"
#include "schedulers/cosine.h"
#include "schedulers/linear.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

constexpr RunLength kRun{.total_updates = 200};

TEST(ScheduleStepperTest, HeaderExample) {
  ScheduleStepper lr(Cosine({.warmup = Updates(100)}), kRun, {3e-3, 3e-4});
  EXPECT_THAT(lr.values(), ElementsAre(0.0, 0.0));
  for (int i = 0; i < 100; ++i) lr.Step();
  EXPECT_THAT(lr.values(), ElementsAre(3e-3, 3e-4));
  EXPECT_EQ(lr.updates(), 100);
}

TEST(ScheduleStepperTest, RestoredScheduleContinues) {
  ScheduleStepper whole(Cosine(), kRun, {1.0, 2.0});
  for (int i = 0; i < 77; ++i) whole.Step();
  ScheduleStepper resumed(Cosine(), kRun, {1.0, 2.0});
  resumed.Restore(whole.updates());
  for (int i = 77; i < 250; ++i) {
    ASSERT_EQ(resumed.values(), whole.values()) << i;
    whole.Step();
    resumed.Step();
  }
}

TEST(ScheduleStepperTest, GroupsMayDiffer) {
  ScheduleStepper stepper(PerGroup({Linear(), Constant()}), kRun, {1.0, 1.0});
  for (int i = 0; i < 50; ++i) stepper.Step();
  EXPECT_THAT(stepper.values(), ElementsAre(0.75, 1.0));
}

TEST(ScheduleStepperTest, BadArgumentsAreNamed) {
  EXPECT_EQ(ErrorOf([] { ScheduleStepper({}, kRun, {1.0}); }),
            "ScheduleStepper: there is no schedule");
  EXPECT_EQ(ErrorOf([] { ScheduleStepper(Linear(), kRun, {1.0}).Restore(-1); }),
            "ScheduleStepper: updates is -1, want at least 0");
}

}  // namespace
}  // namespace trainyard

#include "schedulers/step.h"

#include <gtest/gtest.h>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(StepTest, HeaderExample) {
  const auto schedule =
      Step({.every = Epochs(30), .gamma = 0.1})({.updates_per_epoch = 10});
  EXPECT_EQ(schedule->ValueAt(299, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(300, 1.0), 0.1);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(600, 1.0), 0.01);
}

TEST(StepTest, EqualsPython) {
  ExpectGolden("step", Within::kOfValue, [](const GoldenCase& golden) {
    return Step({.every = Updates(golden.Number("every")),
                 .gamma = golden.Number("gamma")});
  });
}

TEST(StepTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Step({}); }),
            "Step: every is 0 updates, want more than 0");
  EXPECT_EQ(ErrorOf([] { Step({.every = Epochs(1), .gamma = 0}); }),
            "Step: gamma is 0, want more than 0");
  EXPECT_EQ(ErrorOf([] { Step({.every = Epochs(1)})({}); }),
            "Step: every is 1 epoch, but the run does not know its updates per "
            "epoch");
}

}  // namespace
}  // namespace trainyard

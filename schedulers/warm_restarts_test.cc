#include "schedulers/warm_restarts.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(WarmRestartsTest, HeaderExample) {
  const auto schedule = WarmRestarts({.period = Epochs(1), .period_mul = 2})(
      {.updates_per_epoch = 10});
  for (int64_t restart : {0, 10, 30, 70}) {
    EXPECT_EQ(schedule->ValueAt(restart, 1.0), 1.0) << restart;
  }
  EXPECT_DOUBLE_EQ(schedule->ValueAt(20, 1.0), 0.5);
}

// Where the logarithm of 10^3 to the base 10, computed as a quotient, is
// below 3.
TEST(WarmRestartsTest, RestartsAreExactWhereLogarithmsAreNot) {
  const auto schedule =
      WarmRestarts({.period = Updates(9), .period_mul = 10})({});
  EXPECT_LT(schedule->ValueAt(998, 1.0), 0.001);
  EXPECT_EQ(schedule->ValueAt(999, 1.0), 1.0);
}

TEST(WarmRestartsTest, EqualsPython) {
  ExpectGolden("warm_restarts", Within::kOfBase, [](const GoldenCase& golden) {
    return WarmRestarts({.period = Updates(golden.Number("period")),
                         .period_mul = golden.Integer("period_mul"),
                         .min_value = golden.Number("min_value")});
  });
}

TEST(WarmRestartsTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { WarmRestarts({}); }),
            "WarmRestarts: period is 0 updates, want more than 0");
  EXPECT_EQ(
      ErrorOf([] { WarmRestarts({.period = Updates(5), .period_mul = 0}); }),
      "WarmRestarts: period_mul is 0, want at least 1");
}

}  // namespace
}  // namespace trainyard

#include "schedulers/inverse_sqrt.h"

#include <gtest/gtest.h>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(InverseSqrtTest, HeaderExample) {
  const auto schedule = InverseSqrt({.warmup = Updates(4000)})({});
  EXPECT_EQ(schedule->ValueAt(2000, 1.0), 0.5);
  EXPECT_EQ(schedule->ValueAt(4000, 1.0), 1.0);
  EXPECT_EQ(schedule->ValueAt(16000, 1.0), 0.5);
}

TEST(InverseSqrtTest, EqualsPython) {
  ExpectGolden("inverse_sqrt", Within::kOfValue, [](const GoldenCase& golden) {
    return InverseSqrt({.warmup = Updates(golden.Number("warmup")),
                        .timescale = Updates(golden.Number("timescale"))});
  });
}

TEST(InverseSqrtTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { InverseSqrt({}); }),
            "InverseSqrt: timescale is not set and warmup is 0, want one of "
            "them");
  EXPECT_EQ(ErrorOf([] { InverseSqrt({.timescale = Updates(0)}); }),
            "InverseSqrt: timescale is 0 updates, want more than 0");
  EXPECT_EQ(
      ErrorOf(
          [] { InverseSqrt({.warmup = Updates(9)})({.total_updates = 8}); }),
      "InverseSqrt: warmup is 9 updates, longer than the run of 8 updates");
}

}  // namespace
}  // namespace trainyard

#include "schedulers/noam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(NoamTest, HeaderExample) {
  const auto schedule = Noam({.d_model = 512, .warmup = Updates(4000)})({});
  const double peak = 1 / std::sqrt(512.0 * 4000.0);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(3999, 1.0), peak);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(0, 1.0), peak / 4000);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(15999, 2.0), peak);
}

TEST(NoamTest, EqualsPython) {
  ExpectGolden("noam", Within::kOfValue, [](const GoldenCase& golden) {
    return Noam({.d_model = golden.Number("d_model"),
                 .warmup = Updates(golden.Number("warmup"))});
  });
}

TEST(NoamTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Noam({.warmup = Updates(5)}); }),
            "Noam: d_model is 0, want more than 0");
  EXPECT_EQ(ErrorOf([] { Noam({.d_model = 512}); }),
            "Noam: warmup is 0 updates, want more than 0");
  EXPECT_EQ(
      ErrorOf([] {
        Noam({.d_model = 512, .warmup = Updates(9)})({.total_updates = 8});
      }),
      "Noam: warmup is 9 updates, longer than the run of 8 updates");
}

}  // namespace
}  // namespace trainyard

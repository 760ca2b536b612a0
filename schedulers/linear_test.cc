#include "schedulers/linear.h"

#include <gtest/gtest.h>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(LinearTest, HeaderExample) {
  const RunLength run{.updates_per_epoch = 10, .total_updates = 40};
  EXPECT_EQ(Linear()(run)->ValueAt(10, 2.0), 1.5);
  EXPECT_EQ(Linear()(run)->ValueAt(40, 2.0), 0.0);
  const auto up =
      Linear({.start_ratio = 0.1, .end_ratio = 1, .length = Epochs(1)})(run);
  EXPECT_EQ(up->ValueAt(0, 2.0), 0.2);
  EXPECT_DOUBLE_EQ(up->ValueAt(5, 2.0), 1.1);
  EXPECT_EQ(up->ValueAt(30, 2.0), 2.0);
}

TEST(LinearTest, EqualsPython) {
  ExpectGolden("linear", Within::kOfValue, [](const GoldenCase& golden) {
    return Linear({.start_ratio = golden.Number("start_ratio"),
                   .end_ratio = golden.Number("end_ratio"),
                   .length = Updates(golden.Number("length"))});
  });
}

TEST(LinearTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Linear({.start_ratio = -1}); }),
            "Linear: start_ratio is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { Linear({.end_ratio = -1}); }),
            "Linear: end_ratio is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { Linear({.length = Updates(0)}); }),
            "Linear: length is 0 updates, want more than 0");
  EXPECT_EQ(
      ErrorOf([] { Linear({.length = Updates(9)})({.total_updates = 8}); }),
      "Linear: length is 9 updates, longer than the run of 8 updates");
  EXPECT_EQ(ErrorOf([] { Linear()({}); }),
            "Linear: the run's total_updates is unknown");
}

}  // namespace
}  // namespace trainyard

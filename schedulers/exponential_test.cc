#include "schedulers/exponential.h"

#include <gtest/gtest.h>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(ExponentialTest, HeaderExample) {
  const RunLength run{.updates_per_epoch = 10};
  EXPECT_DOUBLE_EQ(Exponential({.gamma = 0.999})(run)->ValueAt(2, 1.0),
                   0.998001);
  const auto per_epoch = Exponential({.gamma = 0.9, .every = Epochs(1)})(run);
  EXPECT_DOUBLE_EQ(per_epoch->ValueAt(20, 1.0), 0.81);
  EXPECT_LT(per_epoch->ValueAt(5, 1.0), per_epoch->ValueAt(4, 1.0));
}

TEST(ExponentialTest, EqualsPython) {
  ExpectGolden("exponential", Within::kOfValue, [](const GoldenCase& golden) {
    return Exponential({.gamma = golden.Number("gamma")});
  });
}

TEST(ExponentialTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Exponential({}); }),
            "Exponential: gamma is 0, want more than 0");
  EXPECT_EQ(ErrorOf([] { Exponential({.gamma = 0.5, .every = Epochs(0)}); }),
            "Exponential: every is 0 epochs, want more than 0");
}

}  // namespace
}  // namespace trainyard

#include "schedulers/polynomial.h"

#include <gtest/gtest.h>

#include <optional>

#include "schedulers/testing/golden_file.h"
#include "tools/testing/error_of.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

TEST(PolynomialTest, HeaderExample) {
  const auto schedule =
      Polynomial({.power = 2, .min_ratio = 0.01})({.total_updates = 100});
  EXPECT_EQ(schedule->ValueAt(0, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(schedule->ValueAt(50, 1.0), 0.01 + 0.99 * 0.25);
  EXPECT_EQ(schedule->ValueAt(200, 1.0), 0.01);
}

TEST(PolynomialTest, EqualsPython) {
  ExpectGolden("polynomial", Within::kOfValue, [](const GoldenCase& golden) {
    PolynomialOptions options{.power = golden.Number("power"),
                              .length = Updates(golden.Number("length"))};
    if (golden.Has("min_value")) options.min_value = golden.Number("min_value");
    return Polynomial(options);
  });
}

TEST(PolynomialTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf([] { Polynomial({.power = 0}); }),
            "Polynomial: power is 0, want more than 0");
  EXPECT_EQ(ErrorOf([] { Polynomial({.min_value = -1.0}); }),
            "Polynomial: min_value is -1, want at least 0");
  EXPECT_EQ(ErrorOf([] { Polynomial({.length = Epochs(0)}); }),
            "Polynomial: length is 0 epochs, want more than 0");
}

}  // namespace
}  // namespace trainyard

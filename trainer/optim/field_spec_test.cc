#include "trainer/optim/field_spec.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const FieldRange& range, double value) {
  try {
    FieldSpec{"field", 0, range}.Check("Adam", value);
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(FieldSpecTest, HeaderExample) {
  const FieldSpec momentum{"momentum", 0.9, kBelowOne};
  EXPECT_THROW(momentum.Check("SGD", 1.5), c10::ValueError);
}

TEST(FieldSpecTest, NamesOptimizerFieldValueAndRange) {
  EXPECT_EQ(ErrorOf(kNotNegative, -1),
            "Adam: field is -1; it must be a number of at least 0");
  EXPECT_EQ(ErrorOf(kAboveZero, 0),
            "Adam: field is 0; it must be a number above 0");
  EXPECT_EQ(ErrorOf(kBelowOne, 1),
            "Adam: field is 1; it must be at least 0 and less than 1");
  EXPECT_EQ(ErrorOf({.least = -INFINITY, .most = 0}, 2),
            "Adam: field is 2; it must be a number of at most 0");
  EXPECT_EQ(ErrorOf({.least = 1, .most = 2, .without_least = true}, 1),
            "Adam: field is 1; it must be above 1 and at most 2");
}

TEST(FieldSpecTest, EndsBelongToTheRangeUnlessSaidOtherwise) {
  EXPECT_EQ(ErrorOf(kNotNegative, 0), "");
  EXPECT_EQ(ErrorOf(kBelowOne, 0), "");
  EXPECT_EQ(ErrorOf({.least = 1, .most = 2}, 2), "");
  EXPECT_NE(ErrorOf({.least = 1, .most = 2, .without_most = true}, 2), "");
}

TEST(FieldSpecTest, RefusesWhatIsNotANumber) {
  for (const double value : {NAN, INFINITY, -INFINITY}) {
    EXPECT_NE(ErrorOf(kNotNegative, value), "") << value;
    EXPECT_NE(ErrorOf({.least = -INFINITY}, value), "") << value;
  }
}

}  // namespace
}  // namespace trainyard

#include "trainer/optim/field_spec.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string CheckError(const FieldRange& range, double value) {
  return ErrorOf<c10::ValueError>(
      [&] { FieldSpec{"field", 0, range}.Check("Adam", value); });
}

TEST(FieldSpecTest, HeaderExample) {
  const FieldSpec momentum{"momentum", 0.9, kBelowOne};
  EXPECT_THROW(
      {
        momentum.Check("SGD",
                       1.5);  // throws, naming optimizer, field and value
      },
      c10::ValueError);
}

TEST(FieldSpecTest, NamesOptimizerFieldValueAndRange) {
  EXPECT_EQ(CheckError(kNotNegative, -1),
            "Adam: field is -1; it must be a number of at least 0");
  EXPECT_EQ(CheckError(kAboveZero, 0),
            "Adam: field is 0; it must be a number above 0");
  EXPECT_EQ(CheckError(kBelowOne, 1),
            "Adam: field is 1; it must be at least 0 and less than 1");
  EXPECT_EQ(CheckError({.least = -INFINITY, .most = 0}, 2),
            "Adam: field is 2; it must be a number of at most 0");
  EXPECT_EQ(CheckError({.least = 1, .most = 2, .without_least = true}, 1),
            "Adam: field is 1; it must be above 1 and at most 2");
}

TEST(FieldSpecTest, RangesIncludeTheirEndsByDefault) {
  EXPECT_EQ(CheckError(kNotNegative, 0), "");
  EXPECT_EQ(CheckError(kBelowOne, 0), "");
  EXPECT_EQ(CheckError({.least = 1, .most = 2}, 2), "");
  EXPECT_NE(CheckError({.least = 1, .most = 2, .without_most = true}, 2), "");
}

TEST(FieldSpecTest, RejectsNanAndInfinities) {
  for (const double value : {NAN, INFINITY, -INFINITY}) {
    EXPECT_NE(CheckError(kNotNegative, value), "") << value;
    EXPECT_NE(CheckError({.least = -INFINITY}, value), "") << value;
  }
}

}  // namespace
}  // namespace trainyard

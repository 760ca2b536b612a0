#include "callbacks/printing/readable.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainyard {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ReadableTest, HeaderExample) {
  EXPECT_EQ(ReadableCount(12345), "12.3k");
  EXPECT_EQ(ReadableSeconds(3725), "1:02:05");
  EXPECT_EQ(ReadableValue(0.41237), "0.4124");
}

TEST(ReadableTest, CountsHaveThreeDigitsAndASuffix) {
  EXPECT_EQ(ReadableCount(0), "0.0");
  EXPECT_EQ(ReadableCount(0.5), "0.5");
  EXPECT_EQ(ReadableCount(87.25), "87.2");
  EXPECT_EQ(ReadableCount(999), "999");
  EXPECT_EQ(ReadableCount(999.7), "1.00k");
  EXPECT_EQ(ReadableCount(9999), "10.0k");
  EXPECT_EQ(ReadableCount(456000), "456k");
  EXPECT_EQ(ReadableCount(999600), "1.00M");
  EXPECT_EQ(ReadableCount(1.2e9), "1.20G");
  EXPECT_EQ(ReadableCount(5e16), "50000T");
  EXPECT_EQ(ReadableCount(kInf), "-");
}

TEST(ReadableTest, SecondsAreRoundedToAClock) {
  EXPECT_EQ(ReadableSeconds(0), "0:00");
  EXPECT_EQ(ReadableSeconds(59.6), "1:00");
  EXPECT_EQ(ReadableSeconds(754), "12:34");
  EXPECT_EQ(ReadableSeconds(86400 * 3 + 4 * 3600 + 5 * 60), "3d 04:05");
  EXPECT_EQ(ReadableSeconds(-1), "-:--");
  EXPECT_EQ(ReadableSeconds(kNan), "-:--");
  EXPECT_EQ(ReadableSeconds(kInf), "-:--");
}

TEST(ReadableTest, ValuesKeepDigitsThatSaySomething) {
  EXPECT_EQ(ReadableValue(0), "0");
  EXPECT_EQ(ReadableValue(-1.5), "-1.5000");
  EXPECT_EQ(ReadableValue(0.01), "0.0100");
  EXPECT_EQ(ReadableValue(0.001), "1.000e-03");
  EXPECT_EQ(ReadableValue(123456), "1.235e+05");
  EXPECT_EQ(ReadableValue(kNan), "nan");
  EXPECT_EQ(ReadableValue(-kInf), "-inf");
}

}  // namespace
}  // namespace trainyard

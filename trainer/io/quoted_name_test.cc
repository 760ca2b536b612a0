#include "trainer/io/quoted_name.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(QuotedNameTest, HeaderExample) {
  QuotedName("layer\n1");  // "\"layer\\n1\""
  EXPECT_EQ(QuotedName("layer\n1"), "\"layer\\n1\"");
}

TEST(QuotedNameTest, EscapesControlBytesAndCutsLongNames) {
  EXPECT_EQ(QuotedName(""), "\"\"");
  EXPECT_EQ(QuotedName("\x1b[2J"), "\"\\x1b[2J\"");
  EXPECT_EQ(QuotedName(std::string(100, 'a')),
            "\"" + std::string(100, 'a') + "\"");
  EXPECT_EQ(QuotedName(std::string(101, 'a')),
            "\"" + std::string(100, 'a') + "\"...");
}

}  // namespace
}  // namespace trainyard

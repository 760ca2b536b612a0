#include "finetuning/near_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNames = {"encoder.0.weight", "encoder.0.bias",
                                         "head.weight", "head.bias"};

TEST(NearNamesTest, HeaderExample) {
  const std::vector<std::string> near =
      NearNames("encodr.*", {"encoder.weight", "head.weight"}, 1);
  EXPECT_THAT(near, ElementsAre("encoder.weight"));
}

TEST(NearNamesTest, FindsMisspeltNames) {
  EXPECT_THAT(NearNames("haed.weight", kNames, 1), ElementsAre("head.weight"));
  EXPECT_THAT(NearNames("head.wait", kNames, 1), ElementsAre("head.weight"));
}

TEST(NearNamesTest, StarsCostNothing) {
  EXPECT_THAT(NearNames("encodr.*", kNames, 2),
              ElementsAre("encoder.0.weight", "encoder.0.bias"));
  EXPECT_THAT(NearNames("*.byas", kNames, 2),
              ElementsAre("encoder.0.bias", "head.bias"));
  EXPECT_THAT(NearNames("encoder.?.biases", kNames, 1),
              ElementsAre("encoder.0.bias"));
}

TEST(NearNamesTest, ReturnsAtMostAllNames) {
  EXPECT_THAT(NearNames("x", {}, 3), IsEmpty());
  EXPECT_EQ(NearNames("", kNames, 9).size(), 4);
  EXPECT_EQ(QuotedNearNames("b", {"a", "b"}), "\"b\", \"a\"");
  EXPECT_EQ(QuotedNearNames("b", {}), "none");
}

}  // namespace
}  // namespace trainyard

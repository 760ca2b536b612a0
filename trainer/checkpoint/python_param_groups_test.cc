#include "trainer/checkpoint/python_param_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string ErrorOf(std::string_view json) {
  const auto groups = ParsePythonParamGroups(json);
  return std::string(groups.status().message());
}

TEST(PythonParamGroupsTest, HeaderExample) {
  const auto groups = ParsePythonParamGroups(
      R"({"format": "trainyard-optimizer-1",
          "param_groups": [{"params": ["w"], "lr": 0.1, "betas": [0.9, 0.999]}]})");
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ(groups->size(), 1U);
  EXPECT_THAT((*groups)[0].params, ElementsAre("w"));
  EXPECT_THAT(
      (*groups)[0].fields,
      ElementsAre(Pair("beta1", 0.9), Pair("beta2", 0.999), Pair("lr", 0.1)));
}

TEST(PythonParamGroupsTest, FlagsAreNumbersAndOtherSettingsAreLeftOut) {
  const auto groups = ParsePythonParamGroups(
      R"({"param_groups": [{"amsgrad": true, "maximize": false, "foreach": null,
           "note": "x", "etas": [0.5, 1.2], "params": []}, {"params": ["a", "b"]}],
          "format": "trainyard-optimizer-1"})");
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ(groups->size(), 2U);
  EXPECT_THAT((*groups)[0].fields,
              ElementsAre(Pair("amsgrad", 1), Pair("maximize", 0)));
  EXPECT_THAT((*groups)[1].params, ElementsAre("a", "b"));
  EXPECT_THAT((*groups)[1].fields, IsEmpty());
}

TEST(PythonParamGroupsTest, ErrorsNameTheProblem) {
  const std::string start = R"({"format":"trainyard-optimizer-1")";
  EXPECT_EQ(ErrorOf(""), "byte 0: expected an object");
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("no format or no param_groups"));
  EXPECT_THAT(ErrorOf(start + "}"), HasSubstr("no format or no param_groups"));
  EXPECT_EQ(ErrorOf(R"({"format":"other"})"),
            "byte 10: a format that is not known here");
  EXPECT_EQ(ErrorOf(start + R"(,"param_groups":[{}]})"),
            "byte 50: a group without params");
  EXPECT_EQ(ErrorOf(start + R"(,"param_groups":[{"params":[1]}]})"),
            "byte 61: expected a string");
  EXPECT_EQ(
      ErrorOf(start + R"(,"param_groups":[{"params":[],"lr":1,"lr":1}]})"),
      "byte 70: a setting comes twice");
  EXPECT_EQ(ErrorOf(start + R"(,"param_groups":[{"params":[]}],"more":1})"),
            "byte 65: an unknown or repeated key");
  EXPECT_THAT(ErrorOf(start + R"(,"param_groups":[{"params":[]}])"),
              HasSubstr("expected a ',' or the end"));
}

}  // namespace
}  // namespace trainyard

#include "trainer/optim/param_group_rules.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/error_of.h"
#include "trainer/optim/adamw.h"
#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

NamedTensor Parameter(const std::string& name, at::IntArrayRef sizes = {2, 2}) {
  return {name, at::ones(sizes).requires_grad_()};
}

std::vector<std::string> Names(const ParamGroup& group) {
  std::vector<std::string> names;
  for (const NamedTensor& param : group.params) names.push_back(param.name);
  return names;
}

ParamGroups Network() {
  return {{.params = {Parameter("stem.weight"), Parameter("body.0.weight"),
                      Parameter("body.1.weight"), Parameter("head.weight"),
                      Parameter("head.bias", {2})}}};
}

TEST(ParamGroupRulesTest, HeaderExample) {
  const TestCustom model(
      {.children = {{"norm", TestBatchNorm1d(3)}, {"head", TestLinear(3, 2)}}});
  ParamGroups groups = NoDecayForBiasAndNorm(*model);
  groups = OverrideByName(groups, {{"head.*", {{"lr", 1e-2}}}});
  AdamW optimizer(groups, {.lr = 1e-3, .weight_decay = 0.05});

  ASSERT_EQ(groups.groups().size(), 3);
  EXPECT_THAT(Names(groups.groups()[0]),
              ElementsAre("norm.weight", "norm.bias"));
  EXPECT_EQ(optimizer.Field(0, "weight_decay"), 0);
  EXPECT_EQ(optimizer.Field(0, "lr"), 1e-3);
  EXPECT_THAT(Names(groups.groups()[1]), ElementsAre("head.bias"));
  EXPECT_EQ(optimizer.Field(1, "weight_decay"), 0);
  EXPECT_EQ(optimizer.Field(1, "lr"), 1e-2);
  EXPECT_THAT(Names(groups.groups()[2]), ElementsAre("head.weight"));
  EXPECT_EQ(optimizer.Field(2, "weight_decay"), 0.05);
  EXPECT_EQ(optimizer.Field(2, "lr"), 1e-2);
}

TEST(ParamGroupRulesTest, Globs) {
  EXPECT_TRUE(MatchesGlob("head.weight", "head.*"));
  EXPECT_TRUE(MatchesGlob("head.weight", "*.weight"));
  EXPECT_TRUE(MatchesGlob("a.b.c", "*b*"));
  EXPECT_TRUE(MatchesGlob("layer.1.bias", "layer.?.bias"));
  EXPECT_TRUE(MatchesGlob("aab", "*ab"));
  EXPECT_TRUE(MatchesGlob("", "*"));
  EXPECT_TRUE(MatchesGlob("head.bias", "head.[bw]*"));
  EXPECT_FALSE(MatchesGlob("layer.10.bias", "layer.?.bias"));
  EXPECT_FALSE(MatchesGlob("head.weight", "head"));
  EXPECT_FALSE(MatchesGlob("head", "head.*"));
  EXPECT_FALSE(MatchesGlob("headXweight", "head.weight"));  // a dot is a dot
  EXPECT_FALSE(MatchesGlob("", "?"));
}

TEST(ParamGroupRulesTest, TheFirstMatchingRuleApplies) {
  const ParamGroups groups = OverrideByName(
      Network(), {{"body.1.*", {{"lr", 1}}}, {"body.*", {{"lr", 2}}}});
  ASSERT_EQ(groups.groups().size(), 3);
  EXPECT_THAT(Names(groups.groups()[0]),
              ElementsAre("stem.weight", "head.weight", "head.bias"));
  EXPECT_THAT(groups.groups()[0].overrides, IsEmpty());
  EXPECT_THAT(Names(groups.groups()[1]), ElementsAre("body.0.weight"));
  EXPECT_THAT(groups.groups()[1].overrides, ElementsAre(Pair("lr", 2)));
  EXPECT_THAT(groups.groups()[2].overrides, ElementsAre(Pair("lr", 1)));
}

TEST(ParamGroupRulesTest, RejectsAPatternThatMatchesNothing) {
  EXPECT_EQ(ErrorOf<c10::ValueError>(
                [] { OverrideByName(Network(), {{"haed.*", {}}}); }),
            "param groups: the pattern \"haed.*\" matches no parameter");
  EXPECT_THAT(
      ErrorOf<c10::ValueError>(
          [] { OverrideByName(Network(), {{"*", {}}, {"stem.*", {}}}); }),
      HasSubstr("\"stem.*\" matches no parameter that no earlier pattern"));
}

}  // namespace
}  // namespace trainyard

#include "trainer/optim/param_groups.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trainer/testing/modules.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const ParamGroup& group) {
  std::vector<std::string> names;
  for (const NamedTensor& param : group.params) names.push_back(param.name);
  return names;
}

at::Tensor Parameter() { return at::ones({2}).requires_grad_(); }

TEST(ParamGroupsTest, TakesTheTrainableParametersOfAModule) {
  TestSequential model{TestLinear(2, 3), TestLinear(3, 1)};
  model->parameters()[0].requires_grad_(false);
  const ParamGroups groups(*model);
  ASSERT_EQ(groups.groups().size(), 1);
  EXPECT_THAT(Names(groups.groups()[0]),
              ElementsAre("0.bias", "1.weight", "1.bias"));
  EXPECT_TRUE(groups.groups()[0].params[0].tensor.is_same(
      model->named_parameters()["0.bias"]));
}

TEST(ParamGroupsTest, TakesTiedWeightsOnce) {
  const at::Tensor weight = Parameter();
  const TestCustom model(
      {.parameters = {
           {"encoder", weight}, {"bias", Parameter()}, {"decoder", weight}}});
  const ParamGroups groups(*model);
  EXPECT_THAT(Names(groups.groups()[0]), ElementsAre("encoder", "bias"));
}

TEST(ParamGroupsTest, NamesTheTensorsOfAListByPosition) {
  const ParamGroups groups(std::vector<at::Tensor>{Parameter(), Parameter()});
  EXPECT_THAT(Names(groups.groups()[0]), ElementsAre("0", "1"));
}

void ExpectRefused(std::vector<ParamGroup> groups, const std::string& why) {
  try {
    const ParamGroups accepted(std::move(groups));
    FAIL() << "accepted, in spite of: " << why;
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(), HasSubstr(why));
  }
}

TEST(ParamGroupsTest, RejectsTensorsThatCannotBeTrained) {
  const at::Tensor shared = Parameter();
  ExpectRefused({}, "no parameters to train");
  ExpectRefused({{.params = {}}}, "no parameters to train");
  ExpectRefused({{.params = {{"w", at::ones({2})}}}},
                "\"w\" is not a leaf tensor that requires gradients");
  ExpectRefused({{.params = {{"w", Parameter().mul(2)}}}},
                "\"w\" is not a leaf");
  ExpectRefused(
      {{.params = {{"w", Parameter()}}}, {.params = {{"w", Parameter()}}}},
      "two parameters are named \"w\"");
  ExpectRefused({{.params = {{"a", shared}}}, {.params = {{"b", shared}}}},
                "\"b\" occurs twice");
}

}  // namespace
}  // namespace trainyard

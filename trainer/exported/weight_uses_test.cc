#include "trainer/exported/weight_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Each use as "parameter: operator".
std::vector<std::string> Uses(const std::string& nodes) {
  const Graph graph = OrThrow(
      ParseGraph(R"({"inputs":[{"tensor":"a.weight"},{"tensor":"b.weight"},)"
                 R"({"input":"x","dtype":"float32","sizes":[]}],"nodes":[)" +
                 nodes + R"(],"outputs":[{"name":"y","value":2}]})"));
  std::vector<std::string> uses;
  for (const WeightUse& use : WeightUses(graph)) {
    uses.push_back(use.parameter + ": " + use.op);
  }
  return uses;
}

std::string Node(const std::string& op, const std::string& args,
                 const std::string& kwargs = "") {
  return R"({"op":"aten::)" + op + R"(","args":[)" + args + R"(],"kwargs":{)" +
         kwargs + "}}";
}

const std::string kA = R"({"value":0})", kB = R"({"value":1})",
                  kX = R"({"value":2})", kTwo = R"({"int":2})",
                  kOnes = R"({"list":[{"int":1},{"int":1}]})";

TEST(WeightUsesTest, ListsParametersInTheOrderOfTheNodes) {
  EXPECT_THAT(
      Uses(Node("linear", kX + "," + kB) + "," +
           Node("embedding", kA + "," + kX)),
      ElementsAre("b.weight: aten::linear", "a.weight: aten::embedding"));
}

TEST(WeightUsesTest, TheFirstUseOfATiedWeightCounts) {
  EXPECT_THAT(Uses(Node("embedding", kA + "," + kX) + "," +
                   Node("linear", kX + "," + kA)),
              ElementsAre("a.weight: aten::embedding"));
}

TEST(WeightUsesTest, LeavesOutWhatIsNotTheWeightOfALayer) {
  EXPECT_THAT(
      Uses(Node("linear", kX + "," + kX) + "," + Node("mul", kX + "," + kA) +
           "," + Node("linear", kA + "," + kX)),
      ElementsAre());
}

TEST(WeightUsesTest, ConvolutionsWithGroupsOrDilationAreLeftOut) {
  EXPECT_THAT(Uses(Node("conv2d", kX + "," + kA)),
              ElementsAre("a.weight: aten::conv2d"));
  EXPECT_THAT(Uses(Node("conv2d", kX + "," + kA + ",null," + kOnes + "," +
                                      kOnes + "," + kOnes)),
              ElementsAre("a.weight: aten::conv2d"));
  EXPECT_THAT(Uses(Node("conv2d", kX + "," + kA, R"("groups":)" + kTwo)),
              ElementsAre());
  EXPECT_THAT(Uses(Node("conv2d", kX + "," + kA,
                        R"("dilation":{"list":[{"int":2},{"int":2}]})")),
              ElementsAre());
}

}  // namespace
}  // namespace trainyard

#include "trainer/exported/graph_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two layers of a weight each, a scale without a layer before them, and a sum
// behind them.
//   values: 0 scale, 1 blocks.0.weight, 2 blocks.1.weight, 3 x
const char kInputs[] =
    R"("inputs": [{"tensor": "scale"}, {"tensor": "blocks.0.weight"},
                  {"tensor": "blocks.1.weight"},
                  {"input": "x", "dtype": "float32", "sizes": [2, 2]}])";

Graph Parsed(const std::string& nodes, int output) {
  return OrThrow(ParseGraph("{" + std::string(kInputs) + R"(, "nodes": [)" +
                            nodes +
                            R"(], "outputs": [{"name": "y", "value": )" +
                            std::to_string(output) + "}]}"));
}

std::string Call(const std::string& op, const std::vector<int>& values) {
  std::string args;
  for (const int value : values) {
    args += (args.empty() ? "" : ", ") + std::string(R"({"value": )") +
            std::to_string(value) + "}";
  }
  return R"({"op": "aten::)" + op + R"(", "args": [)" + args + "]}";
}

std::vector<std::string> Names(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphUnit& unit : GraphUnits(graph)) {
    names.push_back(unit.name);
  }
  return names;
}

TEST(GraphUnitsTest, ALayerIsThePrefixUpToTheFirstNumber) {
  EXPECT_EQ(LayerOfTensor("encoder.3.norm.weight"), "encoder.3");
  EXPECT_EQ(LayerOfTensor("h.10.1.weight"), "h.10");
  EXPECT_EQ(LayerOfTensor("0.weight"), "0");
  EXPECT_EQ(LayerOfTensor("list.2"), "list.2");
  EXPECT_EQ(LayerOfTensor("conv1.weight"), "");
  EXPECT_EQ(LayerOfTensor(""), "");
  EXPECT_EQ(LayerOfTensor("."), "");
}

TEST(GraphUnitsTest, ARangeGoesFromTheFirstToTheLastUse) {
  const Graph graph =
      Parsed(Call("mul", {3, 0}) + "," +      // 0: value 4
                 Call("mm", {4, 1}) + "," +   // 1: value 5, of blocks.0
                 Call("relu", {5}) + "," +    // 2: value 6
                 Call("mm", {6, 1}) + "," +   // 3: value 7, of blocks.0
                 Call("add", {7, 5}) + "," +  // 4: value 8
                 Call("t", {2}) + "," +       // 5: value 9, of blocks.1
                 Call("mm", {8, 9}),          // 6: value 10, of blocks.1
             10);
  const std::vector<GraphUnit> units = GraphUnits(graph);
  ASSERT_EQ(units.size(), 2);
  EXPECT_EQ(units[0].name, "blocks.0");
  EXPECT_EQ(units[0].first, 1);
  EXPECT_EQ(units[0].last, 3);
  EXPECT_THAT(units[0].inputs, ElementsAre(4));
  EXPECT_THAT(units[0].outputs, ElementsAre(5, 7));
  // The transposed weight shares its memory.
  EXPECT_EQ(units[1].name, "blocks.1");
  EXPECT_EQ(units[1].first, 5);
  EXPECT_EQ(units[1].last, 6);
  EXPECT_THAT(units[1].inputs, ElementsAre(8));
  EXPECT_THAT(units[1].outputs, ElementsAre(10));
}

TEST(GraphUnitsTest, OfOverlappingLayersTheShorterIsAUnit) {
  const Graph graph = Parsed(
      Call("mm", {3, 1}) + "," + Call("mm", {4, 2}) + "," + Call("mm", {5, 1}),
      6);
  EXPECT_THAT(Names(graph), ElementsAre("blocks.1"));
}

TEST(GraphUnitsTest, AParameterThatIsReturnedIsInNoUnit) {
  EXPECT_THAT(Names(Parsed(Call("mm", {3, 1}) + "," + Call("t", {1}), 5)),
              IsEmpty());
}

TEST(GraphUnitsTest, FindsValuesInLists) {
  const Graph graph = Parsed(
      R"({"op": "aten::cat", "args": [{"list": [{"value": 3}, {"value": 1}]}]})",
      4);
  const std::vector<GraphUnit> units = GraphUnits(graph);
  ASSERT_EQ(units.size(), 1);
  EXPECT_THAT(units[0].inputs, ElementsAre(3));
}

}  // namespace
}  // namespace trainyard

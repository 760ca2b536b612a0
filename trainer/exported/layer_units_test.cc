#include "trainer/exported/layer_units.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "trainer/exported/graph_program.h"
#include "trainer/model/model_tensors.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Multiplies x by weights in this order.
Graph Product(const std::vector<std::string>& weights) {
  std::string inputs, nodes;
  int next = static_cast<int>(weights.size());
  int x = next++;
  for (size_t i = 0; i < weights.size(); ++i) {
    inputs += R"({"tensor": ")" + weights[i] + R"("}, )";
    nodes +=
        std::string(i == 0 ? "" : ", ") +
        R"({"op": "aten::mul", "overload": "Tensor", "args": [{"value": )" +
        std::to_string(x) + R"(}, {"value": )" + std::to_string(i) + "}]}";
    x = next++;
  }
  return OrThrow(ParseGraph(
      R"({"inputs": [)" + inputs +
      R"({"input": "x", "dtype": "float32", "sizes": [2]}], "nodes": [)" +
      nodes + R"(], "outputs": [{"name": "y", "value": )" + std::to_string(x) +
      "}]}"));
}

class Recorder final : public UnitWatcher {
 public:
  void Enter(const ModelUnit&, const std::vector<at::Tensor>& inputs) override {
    calls.push_back("enter " + std::to_string(inputs.size()));
  }
  void Leave(const ModelUnit&,
             const std::vector<at::Tensor>& outputs) override {
    calls.push_back("leave " + std::to_string(outputs.size()));
  }
  std::vector<std::string> calls;
};

TEST(LayerUnitsTest, HeaderExample) {
  const Graph train = Product({"scale", "0.weight", "1.weight"});
  const Graph eval = train;
  std::vector<NamedTensor> parameters;
  for (const char* const name :
       {"scale", "0.weight", "1.weight", "1.lora_A.weight"}) {
    parameters.push_back({name, at::ones({2})});
  }
  ModelTensors model{"net", parameters};

  const LayerUnits units(train, eval);
  GraphProgram program(train, units.In(train));
  model.units = units.Of(parameters);

  ASSERT_EQ(model.units.size(), 2);
  EXPECT_EQ(model.units[0].name, "0");
  EXPECT_EQ(model.units[0].parameters.size(), 1);
  EXPECT_EQ(model.units[1].name, "1");
  EXPECT_EQ(model.units[1].parameters.size(), 2);
  const auto recorder = std::make_shared<Recorder>();
  model.units[0].unit->Watch(recorder);
  model.units[1].unit->Watch(recorder);
  program.Run({at::ones({2}), at::ones({2}), at::ones({2}), at::ones({2})},
              at::kCPU);
  EXPECT_THAT(recorder->calls,
              ElementsAre("enter 1", "leave 1", "enter 1", "leave 1"));
}

TEST(LayerUnitsTest, AUnitIsOneInBothGraphs) {
  const Graph train = Product({"0.weight", "1.weight", "2.weight"});
  // Layer 0 is around layer 1 here, and layer 2 is not used.
  const Graph eval = Product({"0.weight", "1.weight", "0.bias"});
  const LayerUnits units(train, eval);
  std::vector<std::string> names;
  for (const GraphProgram::Unit& unit : units.In(train)) {
    names.push_back(unit.range.name);
  }
  EXPECT_THAT(names, ElementsAre("1", "2"));
}

}  // namespace
}  // namespace trainyard

#include "trainer/exported/graph_program.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <absl/status/statusor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/error_message.h"
#include "trainer/exported/graph.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Of the inputs x and y, and one output.
GraphProgram Program(const std::string& nodes, int output) {
  const std::string input = R"({"dtype":"float32","sizes":[],"input":)";
  return GraphProgram(OrThrow(ParseGraph(
      "{\"inputs\":[" + input + "\"x\"}," + input + "\"y\"}],\"nodes\":[" +
      nodes + R"(],"outputs":[{"name":"z","value":)" + std::to_string(output) +
      "}]}")));
}

at::Tensor Result(const std::string& nodes, int output) {
  return Program(nodes, output)
      .Run({at::ones({2, 2}), at::full({2, 2}, 3.0)}, at::kCPU)[0];
}

std::string ErrorOf(const std::string& node) {
  try {
    Program(node, 2);
  } catch (const c10::ValueError& error) {
    return ErrorMessage(error);
  }
  return "accepted";
}

TEST(GraphProgramTest, HeaderExample) {
  const Graph graph =
      OrThrow(ParseGraph(R"({"inputs":[{"tensor":"weight"},)"
                         R"({"input":"x","dtype":"float32","sizes":[2]}],)"
                         R"("nodes":[{"op":"aten::mul","overload":"Tensor",)"
                         R"("args":[{"value":0},{"value":1}]}],)"
                         R"("outputs":[{"name":"y","value":2}]})"));
  const at::Tensor weight = at::full({2}, 3.0), x = at::ones({2});
  const GraphProgram program(graph);
  const std::vector<at::Tensor> outputs = program.Run({weight, x}, at::kCPU);
  EXPECT_TRUE(at::equal(outputs[0], weight));
}

TEST(GraphProgramTest, CallsOperators) {
  EXPECT_TRUE(at::equal(
      Result(
          R"({"op":"aten::add","overload":"Tensor",)"
          R"("args":[{"value":0},{"value":1}],"kwargs":{"alpha":{"int":2}}})",
          2),
      at::full({2, 2}, 7.0)));
}

TEST(GraphProgramTest, AValueMayBeUsedTwiceByOneNode) {
  EXPECT_TRUE(at::equal(
      Result(
          R"({"op":"aten::neg","args":[{"value":1}]},)"
          R"({"op":"aten::mul","overload":"Tensor",)"
          R"("args":[{"value":2},{"value":2}]},)"
          R"({"op":"aten::cat","args":[{"list":[{"value":3},{"value":3}]}]})",
          4),
      at::full({4, 2}, 9.0)));
}

// A number does not make an integer tensor a floating-point one.
TEST(GraphProgramTest, ANumberForATensorDoesNotDecideTheType) {
  const at::Tensor whole = at::ones({2}, at::kLong);
  const auto program = Program(R"({"op":"aten::mul","overload":"Tensor",)"
                               R"("args":[{"value":0},{"int":2}]})",
                               2);
  EXPECT_EQ(program.Run({whole, whole}, at::kCPU)[0].scalar_type(), at::kLong);
  const at::Tensor half = at::ones({2}, at::kHalf);
  const auto scaled = Program(R"({"op":"aten::mul","overload":"Tensor",)"
                              R"("args":[{"value":0},{"float":2}]})",
                              2);
  EXPECT_EQ(scaled.Run({half, half}, at::kCPU)[0].scalar_type(), at::kHalf);
}

TEST(GraphProgramTest, ComputesWithSizes) {
  EXPECT_EQ(
      Result(R"({"op":"sym::numel","args":[{"value":0}]},)"
             R"({"op":"sym::mul","args":[{"value":2},{"int":2}]},)"
             R"({"op":"aten::full","args":[{"list":[{"value":3},{"int":1}]},)"
             R"({"float":0.5}],"kwargs":{"device":{"device":"model"}}})",
             4)
          .sizes(),
      at::IntArrayRef({8, 1}));
}

TEST(GraphProgramTest, ANodeWithoutGradientsIsNotRecorded) {
  const auto program = [](const std::string& more) {
    return Program(R"({"op":"aten::exp","args":[{"value":0}])" + more + "}", 2);
  };
  const at::Tensor x = at::ones({2}).requires_grad_();
  EXPECT_TRUE(program("").Run({x, x}, at::kCPU)[0].requires_grad());
  EXPECT_FALSE(program(R"(,"gradients":false)")
                   .Run({x, x}, at::kCPU)[0]
                   .requires_grad());
}

// Nobody but its user holds a value that is not used any more.
TEST(GraphProgramTest, LetsGoOfAValueAtItsLastUse) {
  const auto program = Program(R"({"op":"aten::exp","args":[{"value":0}]},)"
                               R"({"op":"aten::relu_","args":[{"value":2}]},)"
                               R"({"op":"aten::neg","args":[{"value":3}]},)"
                               R"({"op":"aten::mul","overload":"Tensor",)"
                               R"("args":[{"value":4},{"value":1}]})",
                               5);
  const at::Tensor x = at::ones({2}), y = at::ones({2});
  const at::Tensor z = program.Run({x, y}, at::kCPU)[0];
  EXPECT_EQ(z.use_count(), 1);
  EXPECT_EQ(x.use_count(), 1);
  EXPECT_EQ(z.storage().use_count(), 1);
}

TEST(GraphProgramTest, RefusesWhatAnOperatorDoesNotTake) {
  EXPECT_THAT(ErrorOf(R"({"op":"aten::nothing"})"),
              HasSubstr("node 0 (aten::nothing): libtorch has no such"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::from_file","args":[{"text":"/a"}]})"),
              HasSubstr("graphs may not call this operator"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::exp"})"),
              HasSubstr("argument \"self\" is missing"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::exp","args":[{"text":"a"}]})"),
              HasSubstr("argument \"self\": it takes Tensor"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::exp","args":[{"list":[]}]})"),
              HasSubstr("it takes Tensor"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::exp","args":[{"value":0}],"results":2})"),
              HasSubstr("it has 1 results, not 2"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::exp","args":[{"value":0}],)"
                      R"("kwargs":{"self":{"value":0}}})"),
              HasSubstr("argument \"self\" is given twice"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::exp","kwargs":{"input":{"value":0}}})"),
              HasSubstr("it has no argument \"input\""));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::exp","args":[{"value":0},{"int":1}]})"),
              HasSubstr("it takes 1 arguments, and is given 2"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::view","args":[{"value":0},)"
                      R"({"list":[{"value":1}]}]})"),
              HasSubstr("argument \"size\""));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::item","args":[{"value":0}]})"),
              HasSubstr("graphs may not call this operator"));
  EXPECT_THAT(ErrorOf(R"({"op":"sym::size","args":[{"int":0},{"int":0}]})"),
              HasSubstr("argument 0 is of the wrong kind"));
  EXPECT_THAT(ErrorOf(R"({"op":"sym::numel","args":[{"value":0}]})"),
              HasSubstr("output \"z\" is not a tensor"));
  EXPECT_THAT(ErrorOf(R"({"op":"aten::sum","args":[{"value":0}],)"
                      R"("kwargs":{"dtype":{"dtype":"float33"}}})"),
              HasSubstr("there is no type \"float33\""));
}

// Graphs of real models, one byte changed: refused, or prepared; never a crash.
TEST(GraphProgramTest, AnyGraphIsPreparedOrRefused) {
  for (const char* model : {"mlp", "transformer"}) {
    const Safetensors file = OrThrow(ReadSafetensors(
        std::string("trainer/exported/testdata/") + model + ".safetensors"));
    const std::string& text = file.metadata.at("trainyard.train");
    int prepared = 0, refused = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (at % 2 == 0 ? 1 : 2));
      absl::StatusOr<Graph> graph = ParseGraph(changed);
      if (!graph.ok()) continue;
      try {
        const GraphProgram program(*std::move(graph));
        ++prepared;
      } catch (const c10::ValueError& error) {
        EXPECT_THAT(ErrorMessage(error),
                    AnyOf(HasSubstr("node "), HasSubstr("output ")));
        ++refused;
      }
    }
    EXPECT_GT(prepared, 10) << model;
    EXPECT_GT(refused, 10) << model;
  }
}

}  // namespace
}  // namespace trainyard

#include "trainer/exported/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using Kind = GraphArgument::Kind;

// A graph of one input and this node, its output the node's result.
std::string WithNode(const std::string& node) {
  return R"({"inputs":[{"input":"x","dtype":"float32","sizes":[2]}],"nodes":[)" +
         node + R"(],"outputs":[{"name":"y","value":1}]})";
}

std::string WithArgument(const std::string& argument) {
  return WithNode(R"({"op":"aten::add","args":[)" + argument + "]}");
}

std::string ErrorOf(const std::string& text) {
  const auto graph = ParseGraph(text);
  return graph.ok() ? "accepted" : std::string(graph.status().message());
}

TEST(GraphTest, HeaderExample) {
  const auto read = [](std::string_view text) -> absl::Status {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    if (!graph.ok()) return graph.status();
    return absl::OkStatus();
  };
  EXPECT_TRUE(read(WithArgument(R"({"value":0})")).ok());
  EXPECT_THAT(std::string(read(WithArgument(R"({"value":1})")).message()),
              HasSubstr("node 0 (aten::add): "));
}

TEST(GraphTest, ReadsInputsAlone) {
  const auto inputs = ParseGraphInputs(
      R"([{"tensor":"w"},{"input":"x","dtype":"int64","sizes":[3]}])");
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  ASSERT_EQ(inputs->size(), 2);
  EXPECT_EQ((*inputs)[1].sizes[0].number, 3);
  EXPECT_FALSE(ParseGraphInputs(R"([{"tensor":"w"}] more)").ok());
  EXPECT_FALSE(ParseGraphInputs(R"([{"dtype":"w"}])").ok());
}

TEST(GraphTest, ReadsAGraph) {
  const auto graph = ParseGraph(R"({
    "inputs": [{"tensor": "fc.weight"},
               {"input": "x", "dtype": "float32",
                "sizes": [{"size": "s0", "min": 3, "max": 9}, 12, null]}],
    "nodes": [
      {"op": "aten::unbind", "overload": "int", "args": [{"value": 1}],
       "kwargs": {"dim": {"int": -1}}, "module": "fc", "gradients": false},
      {"op": "aten::max", "args": [{"list": [{"value": 2}, null]}],
       "results": 2}],
    "outputs": [{"name": "y", "value": 4}]})");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->values, 5);
  EXPECT_FALSE(graph->inputs[0].is_passed);
  EXPECT_TRUE(graph->inputs[1].is_passed);
  EXPECT_EQ(graph->inputs[1].sizes[0].name, "s0");
  EXPECT_EQ(graph->inputs[1].sizes[0].max, 9);
  EXPECT_EQ(graph->inputs[1].sizes[1].number, 12);
  EXPECT_FALSE(graph->inputs[1].sizes[2].number.has_value());
  EXPECT_EQ(graph->nodes[0].kwargs[0].second.whole, -1);
  EXPECT_FALSE(graph->nodes[0].gradients);
  EXPECT_EQ(graph->nodes[1].first_result, 3);
  EXPECT_EQ(graph->nodes[1].args[0].items[1].kind, Kind::kNone);
  EXPECT_EQ(NodeName(*graph, 0), "node 0 (aten::unbind.int in fc)");
}

TEST(GraphTest, ReadsEveryKindOfArgument) {
  const auto argument = [](const std::string& text) {
    return ParseGraph(WithArgument(text)).value().nodes[0].args[0];
  };
  EXPECT_EQ(argument("null").kind, Kind::kNone);
  EXPECT_EQ(argument("true").whole, 1);
  EXPECT_EQ(argument(R"({"int":9223372036854775807})").whole, INT64_MAX);
  EXPECT_EQ(argument(R"({"float":1e-05})").real, 1e-5);
  EXPECT_TRUE(std::isnan(argument(R"({"float":"nan"})").real));
  EXPECT_EQ(argument(R"({"float":"-inf"})").real, -INFINITY);
  EXPECT_EQ(argument(R"({"text":"tanh"})").text, "tanh");
  EXPECT_EQ(argument(R"({"dtype":"bfloat16"})").kind, Kind::kDtype);
  EXPECT_EQ(argument(R"({"device":"model"})").kind, Kind::kDevice);
  EXPECT_EQ(argument(R"({"layout":"strided"})").kind, Kind::kLayout);
  EXPECT_EQ(argument(R"({"memory_format":"channels_last"})").text,
            "channels_last");
}

TEST(GraphTest, NamesThePlaceOfAMistake) {
  EXPECT_EQ(ErrorOf(""), "byte 0: expected an object");
  EXPECT_EQ(ErrorOf("{}"), "there is no output");
  EXPECT_THAT(ErrorOf("{\"extra\":1}"), HasSubstr("an unknown key"));
  EXPECT_THAT(ErrorOf(R"({"nodes":[],"nodes":[]})"),
              HasSubstr("the key comes twice"));
  EXPECT_EQ(ErrorOf(WithArgument(R"({"value":1})")),
            "node 0 (aten::add): uses a value that is not computed before it");
  EXPECT_EQ(ErrorOf(WithArgument(R"({"list":[{"value":7}]})")),
            "node 0 (aten::add): uses a value that is not computed before it");
  EXPECT_THAT(ErrorOf(WithArgument(R"({"value":-1})")), HasSubstr("below 0"));
  EXPECT_THAT(ErrorOf(WithArgument(R"({"list":[{"list":[]}]})")),
              HasSubstr("a list in a list"));
  EXPECT_THAT(ErrorOf(WithArgument(R"({"int":1,"float":2})")),
              HasSubstr("an argument of two kinds"));
  EXPECT_THAT(ErrorOf(WithArgument("{}")), HasSubstr("of no kind"));
  EXPECT_THAT(ErrorOf(WithArgument(R"({"device":"cuda"})")),
              HasSubstr("expected \"model\""));
  EXPECT_THAT(ErrorOf(WithArgument(R"({"float":"big"})")),
              HasSubstr("expected a number"));
  EXPECT_THAT(ErrorOf(WithNode(R"({"op":"a","results":65})")),
              HasSubstr("more than 64 results"));
  EXPECT_EQ(ErrorOf(WithNode(R"({"op":"a","results":0})")),
            "output \"y\": its value is never computed");
  EXPECT_THAT(ErrorOf(WithNode(R"({"args":[]})")),
              HasSubstr("a node without an operator"));
}

}  // namespace
}  // namespace trainyard

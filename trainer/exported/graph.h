// Graph is the computation of a model that Python exported: a list of calls of
// ATen's operators, read from JSON text that may be hostile. Free of libtorch.
//
//   const absl::StatusOr<Graph> graph = ParseGraph(text);
//   if (!graph.ok()) return graph.status();  // "node 3 (aten::add): …"
//
// Values are numbered: first the inputs, then the results of each node in
// order. In a graph that ParseGraph accepts, every node uses only values before
// its own. GraphProgram checks whether operators exist and take such arguments.
// README.md describes the text. Thread-safe.
#ifndef TRAINYARD_TRAINER_EXPORTED_GRAPH_H_
#define TRAINYARD_TRAINER_EXPORTED_GRAPH_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard {

// The most results of a node.
inline constexpr size_t kMaxGraphResults = 64;

struct GraphArgument {
  enum class Kind {
    kNone,
    kBool,          // in `whole`
    kInt,           // in `whole`
    kFloat,         // in `real`
    kText,          // in `text`
    kValue,         // number of a value, in `whole`
    kList,          // in `items`, none of which is a list
    kDtype,         // in `text`, e.g. "float32"
    kDevice,        // that of the model
    kLayout,        // strided
    kMemoryFormat,  // in `text`, e.g. "contiguous_format"
  };

  Kind kind = Kind::kNone;
  int64_t whole = 0;
  double real = 0;
  std::string text = {};
  std::vector<GraphArgument> items = {};
};

struct GraphNode {
  // E.g. "aten::add" and "Tensor".
  std::string op;
  std::string overload;
  // The Python module that the call is in, for messages. May be empty.
  std::string module;
  std::vector<GraphArgument> args;
  std::vector<std::pair<std::string, GraphArgument>> kwargs;
  // Whether autograd records the call, if it records at all.
  bool gradients = true;
  size_t results = 1;
  // The number of its first result.
  size_t first_result = 0;
};

// A size of an input: a number, or any within limits. Sizes of one name are
// equal. Without number and name: not checked.
struct GraphSize {
  std::optional<int64_t> number = std::nullopt;
  std::string name = {};
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

struct GraphInput {
  // Of a tensor of the model, or of what the caller passes.
  std::string name;
  bool is_passed = false;
  // Only if it is passed:
  std::string dtype = {};
  std::vector<GraphSize> sizes = {};
};

struct GraphOutput {
  std::string name;
  size_t value = 0;
};

struct Graph {
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;
  std::vector<GraphOutput> outputs;
  // How many there are.
  size_t values = 0;
};

// DataLoss, with the byte or the node that is wrong. Takes memory in proportion
// to the text.
absl::StatusOr<Graph> ParseGraph(std::string_view json);

// A list of inputs alone, as a graph has them. Errors as ParseGraph's.
absl::StatusOr<std::vector<GraphInput>> ParseGraphInputs(std::string_view json);

// How messages name a node: "node 3 (aten::add in encoder.0)".
std::string NodeName(const Graph& graph, size_t node);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_GRAPH_H_

// The text of an exported model or of a compiled step: refused, or a graph
// whose nodes use only what is computed before them, and names that fit each
// other.
#include <cstdlib>
#include <set>
#include <string>

#include "trainer/checkpoint/fuzz/fuzz_entry.h"
#include "trainer/exported/graph.h"
#include "trainer/exported/model_text.h"
#include "trainer/exported/step_text.h"

namespace trainyard {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckArgument(const GraphArgument& argument, size_t end, bool in_list) {
  if (argument.kind == GraphArgument::Kind::kValue) {
    Check(argument.whole >= 0 && static_cast<size_t>(argument.whole) < end);
  }
  Check(argument.items.empty() || !in_list);
  for (const GraphArgument& item : argument.items) {
    CheckArgument(item, end, /*in_list=*/true);
  }
}

void CheckGraph(const Graph& graph) {
  size_t values = graph.inputs.size();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    Check(node.first_result == values && !node.op.empty());
    for (const GraphArgument& argument : node.args) {
      CheckArgument(argument, values, /*in_list=*/false);
    }
    for (const auto& [name, argument] : node.kwargs) {
      CheckArgument(argument, values, /*in_list=*/false);
    }
    Check(node.results <= kMaxGraphResults && !NodeName(graph, i).empty());
    values += node.results;
  }
  Check(values == graph.values && !graph.outputs.empty());
  for (const GraphOutput& output : graph.outputs) Check(output.value < values);
}

void CheckState(const StateNames& state) {
  std::set<std::string> names;
  for (const auto& item : state.parameters) names.insert(item.name);
  for (const auto& item : state.buffers) names.insert(item.name);
  Check(names.size() == state.parameters.size() + state.buffers.size());
  for (const auto& item : state.tied) Check(names.contains(item.to));
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  if (const auto graph = ParseGraph(bytes); graph.ok()) CheckGraph(*graph);
  if (const auto state = ParseStateNames(bytes); state.ok()) CheckState(*state);
  // A compiled step's lists of names and inputs.
  const std::string text(bytes);
  const auto step = ParseStepText({{"trainyard.step", "1"},
                                   {"trainyard.inputs", text},
                                   {"trainyard.outputs", text},
                                   {"trainyard.gradients", "[]"},
                                   {"trainyard.buffers", "[]"}});
  Check(!step.ok() || step->inputs.empty() || step->outputs.empty());
}

}  // namespace trainyard

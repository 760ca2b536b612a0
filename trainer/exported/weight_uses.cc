#include "trainer/exported/weight_uses.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

namespace trainyard {
namespace {

using Kind = GraphArgument::Kind;

// The argument at this place or of this name. Null if it is not given.
const GraphArgument* Find(const GraphNode& node, size_t place,
                          const std::string& name) {
  if (place < node.args.size()) return &node.args[place];
  for (const auto& [key, argument] : node.kwargs) {
    if (key == name) return &argument;
  }
  return nullptr;
}

// Whether all of its numbers are 1. A default is.
bool IsOne(const GraphArgument* argument) {
  if (argument == nullptr) return true;
  if (argument->kind == Kind::kInt) return argument->whole == 1;
  return argument->kind == Kind::kList &&
         std::all_of(argument->items.begin(), argument->items.end(),
                     [](const GraphArgument& item) {
                       return item.kind == Kind::kInt && item.whole == 1;
                     });
}

// Where the weight is among the arguments.
std::optional<size_t> WeightPlace(const GraphNode& node) {
  if (node.op == "aten::linear") return 1;
  if (node.op == "aten::embedding") return 0;
  const bool is_plain =
      IsOne(Find(node, 5, "dilation")) && IsOne(Find(node, 6, "groups"));
  if (node.op == "aten::conv2d" && is_plain) return 1;
  return std::nullopt;
}

}  // namespace

std::vector<WeightUse> WeightUses(const Graph& graph) {
  std::vector<WeightUse> uses;
  std::set<std::string> seen;
  for (const GraphNode& node : graph.nodes) {
    const std::optional<size_t> place = WeightPlace(node);
    if (!place) continue;
    const GraphArgument* const weight = Find(node, *place, "weight");
    if (weight == nullptr || weight->kind != Kind::kValue) continue;
    const auto value = static_cast<size_t>(weight->whole);
    if (value >= graph.inputs.size() || graph.inputs[value].is_passed) continue;
    const std::string& name = graph.inputs[value].name;
    if (seen.insert(name).second) uses.push_back({name, node.op});
  }
  return uses;
}

}  // namespace trainyard

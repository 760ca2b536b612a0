#include "trainer/exported/graph_units.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace trainyard {
namespace {

using Kind = GraphArgument::Kind;

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

// The numbers of the values that a node uses.
std::vector<size_t> ValuesOf(const GraphNode& node) {
  std::vector<size_t> values;
  const auto add = [&](const GraphArgument& argument) {
    if (argument.kind == Kind::kValue) {
      values.push_back(static_cast<size_t>(argument.whole));
    }
  };
  const auto add_all = [&](const GraphArgument& argument) {
    add(argument);
    for (const GraphArgument& item : argument.items) add(item);
  };
  for (const GraphArgument& argument : node.args) add_all(argument);
  for (const auto& [name, argument] : node.kwargs) add_all(argument);
  return values;
}

// The ranges of all layers, whether they overlap or not.
std::vector<GraphUnit> Ranges(const Graph& graph) {
  // The layer of each value that is a parameter or computed from parameters of
  // one layer alone: it may share their memory.
  std::vector<std::string> layers(graph.values);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput& input = graph.inputs[i];
    if (!input.is_passed) layers[i] = LayerOfTensor(input.name);
  }
  std::map<std::string, GraphUnit> ranges;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    std::set<std::string> used;
    for (const size_t value : ValuesOf(node)) used.insert(layers[value]);
    for (const std::string& layer : used) {
      if (layer.empty()) continue;
      ranges.try_emplace(layer, GraphUnit{layer, i, i}).first->second.last = i;
    }
    if (used.size() != 1) continue;
    for (size_t result = 0; result < node.results; ++result) {
      layers[node.first_result + result] = *used.begin();
    }
  }
  // What the graph returns is used by the caller.
  std::vector<GraphUnit> units;
  for (auto& [name, unit] : ranges) {
    const bool is_returned =
        std::any_of(graph.outputs.begin(), graph.outputs.end(),
                    [&, &layer = name](const GraphOutput& output) {
                      return layers[output.value] == layer;
                    });
    if (!is_returned) units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace

std::string LayerOfTensor(std::string_view name) {
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (IsNumber(name.substr(begin, end - begin))) {
      return std::string(name.substr(0, end));
    }
    begin = end + 1;
  }
  return "";
}

std::vector<GraphUnit> GraphUnits(const Graph& graph) {
  std::vector<GraphUnit> ranges = Ranges(graph);
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const GraphUnit& a, const GraphUnit& b) {
                     return a.last - a.first < b.last - b.first;
                   });
  std::vector<GraphUnit> units;
  for (GraphUnit& range : ranges) {
    const bool overlaps =
        std::any_of(units.begin(), units.end(), [&](const GraphUnit& unit) {
          return range.first <= unit.last && unit.first <= range.last;
        });
    if (!overlaps) units.push_back(std::move(range));
  }
  std::sort(
      units.begin(), units.end(),
      [](const GraphUnit& a, const GraphUnit& b) { return a.first < b.first; });
  for (GraphUnit& unit : units) {
    const size_t begin = graph.nodes[unit.first].first_result;
    const size_t end =
        graph.nodes[unit.last].first_result + graph.nodes[unit.last].results;
    std::set<size_t> inputs, outputs;
    for (size_t i = unit.first; i < graph.nodes.size(); ++i) {
      for (const size_t value : ValuesOf(graph.nodes[i])) {
        const bool is_computed =
            value >= graph.inputs.size() || graph.inputs[value].is_passed;
        if (i <= unit.last) {
          if (is_computed && value < begin) inputs.insert(value);
        } else if (value >= begin && value < end) {
          outputs.insert(value);
        }
      }
    }
    for (const GraphOutput& output : graph.outputs) {
      if (output.value >= begin && output.value < end) {
        outputs.insert(output.value);
      }
    }
    unit.inputs.assign(inputs.begin(), inputs.end());
    unit.outputs.assign(outputs.begin(), outputs.end());
  }
  return units;
}

}  // namespace trainyard

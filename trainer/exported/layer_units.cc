#include "trainer/exported/layer_units.h"

#include <cstddef>
#include <set>
#include <utility>

#include "trainer/exported/graph_units.h"

namespace trainyard {

LayerUnits::LayerUnits(const Graph& train, const Graph& eval) {
  std::set<std::string> in_eval, used_in_eval;
  for (const GraphUnit& unit : GraphUnits(eval)) in_eval.insert(unit.name);
  for (const GraphInput& input : eval.inputs) {
    if (!input.is_passed) used_in_eval.insert(LayerOfTensor(input.name));
  }
  for (const GraphUnit& unit : GraphUnits(train)) {
    if (in_eval.contains(unit.name) || !used_in_eval.contains(unit.name)) {
      units_[unit.name] = std::make_shared<ModelUnit>();
    }
  }
}

std::vector<GraphProgram::Unit> LayerUnits::In(const Graph& graph) const {
  std::vector<GraphProgram::Unit> units;
  for (GraphUnit& range : GraphUnits(graph)) {
    const auto found = units_.find(range.name);
    if (found == units_.end()) continue;
    units.push_back({std::move(range), found->second});
  }
  return units;
}

std::vector<UnitTensors> LayerUnits::Of(
    const std::vector<NamedTensor>& parameters) const {
  std::vector<UnitTensors> units;
  std::map<std::string, size_t> places;
  for (const NamedTensor& item : parameters) {
    const auto found = units_.find(LayerOfTensor(item.name));
    if (found == units_.end()) continue;
    const auto [place, is_new] = places.try_emplace(found->first, units.size());
    if (is_new) units.push_back({found->first, found->second, {}});
    units[place->second].parameters.push_back(item.tensor);
  }
  return units;
}

}  // namespace trainyard

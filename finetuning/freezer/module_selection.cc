#include "finetuning/freezer/module_selection.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

#include "finetuning/near_names.h"
#include "trainer/optim/param_group_rules.h"

namespace trainyard {
namespace {

// Negative indices count from the end.
size_t Index(int64_t index, size_t size, const char* what) {
  const auto signed_size = static_cast<int64_t>(size);
  TORCH_CHECK_INDEX(index >= -signed_size && index < signed_size,
                    "ModelFreezer: there is no ", what, " ", index,
                    "; the model has ", size, " of them, from ", -signed_size,
                    " to ", signed_size - 1);
  return static_cast<size_t>(index < 0 ? index + signed_size : index);
}

std::pair<size_t, size_t> Range(int64_t from, int64_t to, size_t size,
                                const char* what) {
  const size_t a = Index(from, size, what), b = Index(to, size, what);
  return std::minmax(a, b);
}

}  // namespace

ModuleSelection::ModuleSelection(const ModuleTree& tree, bool leave_batch_norms)
    : tree_(tree),
      leave_batch_norms_(leave_batch_norms),
      group_of_(tree.nodes().size(), -1) {
  for (size_t node = 1; node < tree.nodes().size(); ++node) {
    if (tree.nodes()[node].parent == 0) groups_.push_back(node);
    group_of_[node] = static_cast<int64_t>(groups_.size()) - 1;
  }
}

ModuleSelection::Marks ModuleSelection::InGroups(int64_t from,
                                                 int64_t to) const {
  const auto [first, last] = Range(from, to, groups_.size(), "group");
  Marks nodes(tree_.nodes().size());
  for (size_t node = 1; node < nodes.size(); ++node) {
    const auto group = static_cast<size_t>(group_of_[node]);
    nodes[node] = group >= first && group <= last;
  }
  return nodes;
}

ModuleSelection::Marks ModuleSelection::InLayers(int64_t from,
                                                 int64_t to) const {
  std::vector<size_t> layers;
  for (size_t node = 0; node < tree_.nodes().size(); ++node) {
    if (tree_.nodes()[node].is_layer()) layers.push_back(node);
  }
  const auto [first, last] = Range(from, to, layers.size(), "layer");
  Marks nodes(tree_.nodes().size());
  for (size_t layer = first; layer <= last; ++layer) {
    nodes[layers[layer]] = true;
  }
  return nodes;
}

ModuleSelection::Marks ModuleSelection::InMatching(
    const std::string& pattern) const {
  const auto& nodes = tree_.nodes();
  Marks whole(nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) {
    whole[i] = whole[nodes[i].parent] || MatchesGlob(nodes[i].name, pattern);
  }
  return whole;
}

std::vector<NamedTensor> ModuleSelection::ParametersMatching(
    const std::string& pattern) const {
  const Marks whole = InMatching(pattern);
  std::vector<NamedTensor> named;
  std::vector<std::string> names;
  bool left_alone = false;
  for (size_t i = 0; i < whole.size(); ++i) {
    const ModuleTree::Node& node = tree_.nodes()[i];
    if (i > 0) names.push_back(node.name);
    for (const NamedTensor& item : node.parameters) {
      names.push_back(item.name);
      if (!CanTrain(item.tensor)) continue;
      if (!whole[i] && !MatchesGlob(item.name, pattern)) continue;
      if (LeavesAlone(i)) {
        left_alone = true;
      } else {
        named.push_back(item);
      }
    }
  }
  TORCH_CHECK_VALUE(
      !named.empty() || !left_alone, "ModelFreezer: \"", pattern,
      "\" matches only batch norms, which are not frozen by default; "
      "set batch_norms to freeze them");
  TORCH_CHECK_VALUE(!named.empty(), "ModelFreezer: \"", pattern,
                    "\" matches no parameter and no module with parameters; "
                    "near it are ",
                    QuotedNearNames(pattern, names));
  return named;
}

std::vector<NamedTensor> ModuleSelection::ParametersOf(
    const Marks& nodes) const {
  std::vector<NamedTensor> parameters;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i] || LeavesAlone(i)) continue;
    for (const NamedTensor& item : tree_.nodes()[i].parameters) {
      if (CanTrain(item.tensor)) parameters.push_back(item);
    }
  }
  return parameters;
}

bool ModuleSelection::LeavesAlone(size_t node) const {
  return tree_.nodes()[node].is_batch_norm && leave_batch_norms_;
}

}  // namespace trainyard

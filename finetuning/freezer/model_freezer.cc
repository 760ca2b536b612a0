#include "finetuning/freezer/model_freezer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "finetuning/near_names.h"
#include "trainer/optim/param_group_rules.h"

namespace trainyard {
namespace {

// Counters and the like cannot be trained.
bool CanTrain(const at::Tensor& tensor) {
  return tensor.is_floating_point() || tensor.is_complex();
}

// Whether it was not so before.
bool SetFrozen(const at::Tensor& parameter, bool frozen) {
  if (parameter.requires_grad() != frozen) return false;
  parameter.set_requires_grad(!frozen);
  // One that is left over would still be stepped along.
  if (frozen) parameter.mutable_grad().reset();
  return true;
}

// From the end if negative.
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

ModelFreezer::ModelFreezer(torch::nn::Module& model,
                           const ModelFreezerOptions& options)
    : ModelFreezer(NnModuleTree(model), options) {}

ModelFreezer::ModelFreezer(const torch::jit::Module& model,
                           const ModelFreezerOptions& options)
    : ModelFreezer(ScriptModuleTree(model), options) {}

ModelFreezer::ModelFreezer(std::unique_ptr<ModuleTree> tree,
                           const ModelFreezerOptions& options)
    : tree_(std::move(tree)), options_(options) {
  const auto& nodes = tree_->nodes();
  group_of_.assign(nodes.size(), -1);
  told_.resize(nodes.size());
  for (size_t node = 1; node < nodes.size(); ++node) {
    if (nodes[node].parent == 0) groups_.push_back(node);
    group_of_[node] = static_cast<int64_t>(groups_.size()) - 1;
  }
  HoldFrozen();
}

std::vector<std::string> ModelFreezer::Groups() const {
  std::vector<std::string> names;
  for (const size_t node : groups_) names.push_back(tree_->nodes()[node].name);
  return names;
}

std::vector<ModelFreezer::Layer> ModelFreezer::Layers() const {
  std::vector<Layer> layers;
  for (size_t i = 0; i < tree_->nodes().size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
    if (!node.is_layer()) continue;
    Layer layer{.name = node.name,
                .type = node.type,
                .group = group_of_[i],
                .parameters = 0,
                .trainable = 0,
                .is_batch_norm = node.is_batch_norm,
                .frozen = IsFrozen(i),
                .training = tree_->is_training(i)};
    for (const NamedTensor& item : node.parameters) {
      layer.parameters += item.tensor.numel();
      if (item.tensor.requires_grad()) layer.trainable += item.tensor.numel();
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

void ModelFreezer::FreezeGroups(int64_t from, int64_t to) {
  Set(InGroups(from, to), OfGroups(from, to), true);
}
void ModelFreezer::FreezeLayers(int64_t from, int64_t to) {
  const std::vector<bool> nodes = InLayers(from, to);
  Set(nodes, ParametersOf(nodes), true);
}
void ModelFreezer::FreezeMatching(const std::string& pattern) {
  Set(InMatching(pattern), Matching(pattern), true);
}
std::vector<NamedTensor> ModelFreezer::UnfreezeGroups(int64_t from,
                                                      int64_t to) {
  return Set(InGroups(from, to), OfGroups(from, to), false);
}
std::vector<NamedTensor> ModelFreezer::UnfreezeLayers(int64_t from,
                                                      int64_t to) {
  const std::vector<bool> nodes = InLayers(from, to);
  return Set(nodes, ParametersOf(nodes), false);
}
std::vector<NamedTensor> ModelFreezer::UnfreezeMatching(
    const std::string& pattern) {
  return Set(InMatching(pattern), Matching(pattern), false);
}

std::vector<NamedTensor> ModelFreezer::OfGroups(int64_t from,
                                                int64_t to) const {
  return ParametersOf(InGroups(from, to));
}

std::vector<NamedTensor> ModelFreezer::TrainableParameters() const {
  std::vector<NamedTensor> trainable;
  for (const ModuleTree::Node& node : tree_->nodes()) {
    for (const NamedTensor& item : node.parameters) {
      if (item.tensor.requires_grad()) trainable.push_back(item);
    }
  }
  return trainable;
}

std::vector<bool> ModelFreezer::InGroups(int64_t from, int64_t to) const {
  const auto [first, last] = Range(from, to, groups_.size(), "group");
  std::vector<bool> nodes(tree_->nodes().size());
  for (size_t node = 1; node < nodes.size(); ++node) {
    const auto group = static_cast<size_t>(group_of_[node]);
    nodes[node] = group >= first && group <= last;
  }
  return nodes;
}

std::vector<bool> ModelFreezer::InLayers(int64_t from, int64_t to) const {
  std::vector<size_t> layers;
  for (size_t node = 0; node < tree_->nodes().size(); ++node) {
    if (tree_->nodes()[node].is_layer()) layers.push_back(node);
  }
  const auto [first, last] = Range(from, to, layers.size(), "layer");
  std::vector<bool> nodes(tree_->nodes().size());
  for (size_t layer = first; layer <= last; ++layer) {
    nodes[layers[layer]] = true;
  }
  return nodes;
}

// Modules that the pattern names, with all in them.
std::vector<bool> ModelFreezer::InMatching(const std::string& pattern) const {
  const auto& nodes = tree_->nodes();
  std::vector<bool> whole(nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) {
    whole[i] = whole[nodes[i].parent] || MatchesGlob(nodes[i].name, pattern);
  }
  return whole;
}

std::vector<NamedTensor> ModelFreezer::Matching(
    const std::string& pattern) const {
  const std::vector<bool> whole = InMatching(pattern);
  std::vector<NamedTensor> named;
  std::vector<std::string> names;
  bool left_alone = false;
  for (size_t i = 0; i < whole.size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
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
  TORCH_CHECK_VALUE(!named.empty() || !left_alone, "ModelFreezer: \"", pattern,
                    "\" names only batch norms, which are left alone; set "
                    "batch_norms to freeze them");
  TORCH_CHECK_VALUE(!named.empty(), "ModelFreezer: \"", pattern,
                    "\" matches no parameter and no module with parameters; "
                    "near it are ",
                    QuotedNearNames(pattern, names));
  return named;
}

std::vector<NamedTensor> ModelFreezer::ParametersOf(
    const std::vector<bool>& nodes) const {
  std::vector<NamedTensor> parameters;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i] || LeavesAlone(i)) continue;
    for (const NamedTensor& item : tree_->nodes()[i].parameters) {
      if (CanTrain(item.tensor)) parameters.push_back(item);
    }
  }
  return parameters;
}

std::vector<NamedTensor> ModelFreezer::Set(
    const std::vector<bool>& nodes, const std::vector<NamedTensor>& parameters,
    bool frozen) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] && !LeavesAlone(i)) told_[i] = frozen;
  }
  std::vector<NamedTensor> changed;
  for (const NamedTensor& item : parameters) {
    if (SetFrozen(item.tensor, frozen)) changed.push_back(item);
  }
  HoldFrozen();
  return changed;
}

bool ModelFreezer::LeavesAlone(size_t node) const {
  return tree_->nodes()[node].is_batch_norm &&
         options_.batch_norms == BatchNorms::kLeave;
}

bool ModelFreezer::IsFrozen(size_t node) const {
  bool has_any = false;
  for (const NamedTensor& item : tree_->nodes()[node].parameters) {
    if (!CanTrain(item.tensor)) continue;
    if (item.tensor.requires_grad()) return false;
    has_any = true;
  }
  return has_any || told_[node];
}

void ModelFreezer::HoldFrozen() {
  std::vector<bool> hold(tree_->nodes().size());
  for (size_t i = 0; i < hold.size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
    if (!node.is_layer()) continue;
    hold[i] = IsFrozen(i) &&
              (node.is_batch_norm
                   ? options_.batch_norms == BatchNorms::kFreezeWithStatistics
                   : options_.eval_frozen);
  }
  tree_->Hold(hold);
}

State ModelFreezer::SaveState() const {
  State state;
  for (size_t i = 0; i < told_.size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
    state.Set("module/" + node.name, static_cast<int64_t>(told_[i]));
    for (const NamedTensor& item : node.parameters) {
      state.Set("parameter/" + item.name,
                static_cast<int64_t>(!item.tensor.requires_grad()));
    }
  }
  return state;
}

void ModelFreezer::LoadState(const State& state) {
  state.CheckVersion(1);
  const State own = SaveState();
  for (const auto& [name, value] : own.values()) state.Get<int64_t>(name);
  for (const auto& [name, value] : state.values()) {
    if (own.Has(name)) continue;
    throw std::invalid_argument("ModelFreezer: the state has \"" + name +
                                "\", which the model has not");
  }
  for (size_t i = 0; i < told_.size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
    told_[i] = state.Get<int64_t>("module/" + node.name) != 0;
    for (const NamedTensor& item : node.parameters) {
      if (!CanTrain(item.tensor)) continue;
      SetFrozen(item.tensor, state.Get<int64_t>("parameter/" + item.name) != 0);
    }
  }
  HoldFrozen();
}

}  // namespace trainyard

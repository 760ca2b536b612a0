#include "finetuning/freezer/model_freezer.h"

#include <c10/util/Exception.h>

#include <stdexcept>
#include <utility>

namespace trainyard {
namespace {

// Returns whether the parameter changed its state.
bool SetFrozen(const at::Tensor& parameter, bool frozen) {
  if (parameter.requires_grad() != frozen) return false;
  parameter.set_requires_grad(!frozen);
  // An optimizer would still apply a remaining gradient.
  if (frozen) parameter.mutable_grad().reset();
  return true;
}

std::unique_ptr<ModuleTree> TreeWithoutModes(
    const Model& model, const ModelFreezerOptions& options) {
  TORCH_CHECK_VALUE(
      options.batch_norms != BatchNorms::kFreezeWithStatistics &&
          !options.eval_frozen,
      "ModelFreezer: layers of this model have no mode of their own and cannot "
      "stay in evaluation mode; BatchNorms::kFreezeWithStatistics and "
      "eval_frozen need a torch::nn or TorchScript model");
  return NamedModuleTree(model);
}

}  // namespace

ModelFreezer::ModelFreezer(torch::nn::Module& model,
                           const ModelFreezerOptions& options)
    : ModelFreezer(NnModuleTree(model), options) {}

ModelFreezer::ModelFreezer(const torch::jit::Module& model,
                           const ModelFreezerOptions& options)
    : ModelFreezer(ScriptModuleTree(model), options) {}

ModelFreezer::ModelFreezer(const Model& model,
                           const ModelFreezerOptions& options)
    : ModelFreezer(TreeWithoutModes(model, options), options) {}

ModelFreezer::ModelFreezer(std::unique_ptr<ModuleTree> tree,
                           const ModelFreezerOptions& options)
    : tree_(std::move(tree)),
      options_(options),
      selection_(*tree_, options.batch_norms == BatchNorms::kLeave),
      frozen_nodes_(tree_->nodes().size()) {
  HoldFrozen();
}

std::vector<std::string> ModelFreezer::Groups() const {
  std::vector<std::string> names;
  for (const size_t node : selection_.groups())
    names.push_back(tree_->nodes()[node].name);
  return names;
}

std::vector<ModelFreezer::Layer> ModelFreezer::Layers() const {
  std::vector<Layer> layers;
  for (size_t i = 0; i < tree_->nodes().size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
    if (!node.is_layer()) continue;
    Layer layer{.name = node.name,
                .type = node.type,
                .group = selection_.group_of(i),
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
  Set(selection_.InGroups(from, to), OfGroups(from, to), true);
}
void ModelFreezer::FreezeLayers(int64_t from, int64_t to) {
  const std::vector<bool> nodes = selection_.InLayers(from, to);
  Set(nodes, selection_.ParametersOf(nodes), true);
}
void ModelFreezer::FreezeMatching(const std::string& pattern) {
  Set(selection_.InMatching(pattern), Matching(pattern), true);
}
std::vector<NamedTensor> ModelFreezer::UnfreezeGroups(int64_t from,
                                                      int64_t to) {
  return Set(selection_.InGroups(from, to), OfGroups(from, to), false);
}
std::vector<NamedTensor> ModelFreezer::UnfreezeLayers(int64_t from,
                                                      int64_t to) {
  const std::vector<bool> nodes = selection_.InLayers(from, to);
  return Set(nodes, selection_.ParametersOf(nodes), false);
}
std::vector<NamedTensor> ModelFreezer::UnfreezeMatching(
    const std::string& pattern) {
  return Set(selection_.InMatching(pattern), Matching(pattern), false);
}

std::vector<NamedTensor> ModelFreezer::OfGroups(int64_t from,
                                                int64_t to) const {
  return selection_.ParametersOf(selection_.InGroups(from, to));
}
std::vector<NamedTensor> ModelFreezer::Matching(
    const std::string& pattern) const {
  return selection_.ParametersMatching(pattern);
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

std::vector<NamedTensor> ModelFreezer::Set(
    const std::vector<bool>& nodes, const std::vector<NamedTensor>& parameters,
    bool frozen) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] && !selection_.LeavesAlone(i)) frozen_nodes_[i] = frozen;
  }
  std::vector<NamedTensor> changed;
  for (const NamedTensor& item : parameters) {
    if (SetFrozen(item.tensor, frozen)) changed.push_back(item);
  }
  HoldFrozen();
  return changed;
}

bool ModelFreezer::IsFrozen(size_t node) const {
  bool has_any = false;
  for (const NamedTensor& item : tree_->nodes()[node].parameters) {
    if (!ModuleSelection::CanTrain(item.tensor)) continue;
    if (item.tensor.requires_grad()) return false;
    has_any = true;
  }
  return has_any || frozen_nodes_[node];
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
  for (size_t i = 0; i < frozen_nodes_.size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
    state.Set("module/" + node.name, static_cast<int64_t>(frozen_nodes_[i]));
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
                                "\", which is not in the model");
  }
  for (size_t i = 0; i < frozen_nodes_.size(); ++i) {
    const ModuleTree::Node& node = tree_->nodes()[i];
    frozen_nodes_[i] = state.Get<int64_t>("module/" + node.name) != 0;
    for (const NamedTensor& item : node.parameters) {
      if (!ModuleSelection::CanTrain(item.tensor)) continue;
      SetFrozen(item.tensor, state.Get<int64_t>("parameter/" + item.name) != 0);
    }
  }
  HoldFrozen();
}

}  // namespace trainyard

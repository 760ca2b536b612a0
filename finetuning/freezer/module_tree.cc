#include "finetuning/freezer/module_tree.h"

#include <c10/util/Exception.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <utility>

#include "trainer/model/model.h"

namespace trainyard {
namespace {

constexpr char kKeeperName[] = "frozen_layers_stay_in_eval";

bool IsBatchNorm(const std::string& type,
                 const std::vector<std::string>& buffers) {
  return type.find("BatchNorm") != std::string::npos ||
         std::find(buffers.begin(), buffers.end(), "running_mean") !=
             buffers.end();
}

std::string Joined(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

// "torch::nn::Conv2dImpl" is "Conv2d".
std::string ShortType(std::string type) {
  const size_t scope = type.rfind("::");
  if (scope != std::string::npos) type.erase(0, scope + 2);
  if (type.size() > 4 && type.ends_with("Impl")) type.resize(type.size() - 4);
  return type;
}

// The last child of a module: train() reaches it after its siblings.
class EvalKeeper final : public torch::nn::Module {
 public:
  void train(bool) override {
    for (const auto& module : held) module->eval();
  }
  bool is_serializable() const override { return false; }

  std::vector<std::shared_ptr<torch::nn::Module>> held;
};

class NnTree final : public ModuleTree {
 public:
  explicit NnTree(torch::nn::Module& model) : model_(model) {
    Add("", model, nullptr, 0);
    held_.resize(nodes_.size());
  }
  ~NnTree() override { RemoveKeepers(); }

  bool is_training(size_t node) const override {
    return (modules_[node] ? *modules_[node] : model_).is_training();
  }

 private:
  void Add(const std::string& name, torch::nn::Module& module,
           std::shared_ptr<torch::nn::Module> shared, size_t parent) {
    const size_t index = nodes_.size();
    Node& node = nodes_.emplace_back();
    node.name = name;
    node.type = ShortType(module.name());
    node.parent = parent;
    for (const auto& item : module.named_parameters(/*recurse=*/false)) {
      node.parameters.push_back({Joined(name, item.key()), item.value()});
    }
    std::vector<std::string> buffers;
    for (const auto& item : module.named_buffers(/*recurse=*/false)) {
      buffers.push_back(item.key());
    }
    node.is_batch_norm = IsBatchNorm(node.type, buffers);
    modules_.push_back(std::move(shared));
    for (const auto& item : module.named_children()) {
      if (dynamic_cast<const EvalKeeper*>(item.value().get())) continue;
      nodes_[index].has_children = true;
      Add(Joined(name, item.key()), *item.value(), item.value(), index);
    }
  }

  void SetTraining(size_t node, bool training) override {
    modules_[node]->train(training);
  }

  // One for each module that contains a held layer, so that train() of any of
  // them is noticed.
  void HeldChanged() override {
    RemoveKeepers();
    std::vector<std::shared_ptr<EvalKeeper>> keepers(nodes_.size());
    for (size_t node = 1; node < nodes_.size(); ++node) {
      if (!held_[node]) continue;
      for (size_t at = node; at != 0;) {
        at = nodes_[at].parent;
        if (keepers[at] == nullptr) {
          keepers[at] = std::make_shared<EvalKeeper>();
        }
        keepers[at]->held.push_back(modules_[node]);
      }
    }
    for (size_t node = 0; node < nodes_.size(); ++node) {
      if (keepers[node] == nullptr) continue;
      torch::nn::Module& parent = modules_[node] ? *modules_[node] : model_;
      parent.register_module(kKeeperName, keepers[node]);
      parents_.push_back(node);
    }
  }

  void RemoveKeepers() {
    for (const size_t node : parents_) {
      torch::nn::Module& parent = modules_[node] ? *modules_[node] : model_;
      parent.unregister_module(kKeeperName);
    }
    parents_.clear();
  }

  torch::nn::Module& model_;
  // One per node; null for the model itself.
  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
  std::vector<size_t> parents_;  // modules that have a keeper
};

class ScriptTree final : public ModuleTree {
 public:
  explicit ScriptTree(const torch::jit::Module& model) {
    Add("", model, 0);
    held_.resize(nodes_.size());
  }

  bool is_training(size_t node) const override {
    return modules_[node].hasattr("training") &&
           modules_[node].attr("training").toBool();
  }

 private:
  void Add(const std::string& name, const torch::jit::Module& module,
           size_t parent) {
    const size_t index = nodes_.size();
    Node& node = nodes_.emplace_back();
    node.name = name;
    node.type = module.type()->name() ? module.type()->name()->name() : "";
    node.parent = parent;
    for (const auto& item : module.named_parameters(/*recurse=*/false)) {
      node.parameters.push_back({Joined(name, item.name), item.value});
    }
    std::vector<std::string> buffers;
    for (const auto& item : module.named_buffers(/*recurse=*/false)) {
      buffers.push_back(item.name);
    }
    node.is_batch_norm = IsBatchNorm(node.type, buffers);
    modules_.push_back(module);
    for (const auto& item : module.named_children()) {
      nodes_[index].has_children = true;
      Add(Joined(name, item.name), item.value, index);
    }
  }

  void SetTraining(size_t node, bool training) override {
    if (modules_[node].hasattr("training")) {
      modules_[node].setattr("training", training);
    }
  }

  std::vector<torch::jit::Module> modules_;  // one per node
};

class NamedTree final : public ModuleTree {
 public:
  explicit NamedTree(const Model& model) {
    nodes_.emplace_back();
    for (NamedTensor& item : model.Parameters()) {
      nodes_[NodeOf(item.name)].parameters.push_back(std::move(item));
    }
    for (const NamedTensor& item : model.Buffers()) {
      if (item.name.ends_with("running_mean")) {
        nodes_[NodeOf(item.name)].is_batch_norm = true;
      }
    }
    held_.resize(nodes_.size());
  }

  bool is_training(size_t) const override { return true; }

 private:
  // Adds the module that contains a tensor, and its parents.
  size_t NodeOf(const std::string& tensor) {
    size_t node = 0;
    for (size_t dot = tensor.find('.'); dot != std::string::npos;
         dot = tensor.find('.', dot + 1)) {
      const std::string name = tensor.substr(0, dot);
      const auto found =
          std::find_if(nodes_.begin(), nodes_.end(),
                       [&](const Node& other) { return other.name == name; });
      nodes_[node].has_children = true;
      if (found == nodes_.end()) {
        nodes_.push_back(
            {.name = name, .type = {}, .parent = node, .parameters = {}});
        node = nodes_.size() - 1;
      } else {
        node = static_cast<size_t>(found - nodes_.begin());
      }
    }
    return node;
  }

  void SetTraining(size_t, bool) override {
    TORCH_CHECK(false, "ModuleTree: modules of this model have no modes");
  }
};

}  // namespace

void ModuleTree::Hold(const std::vector<bool>& layers) {
  std::vector<bool> hold(nodes_.size(), true);
  // Parents come before their children.
  for (size_t node = nodes_.size() - 1; node > 0; --node) {
    if (nodes_[node].is_layer() && !layers[node]) hold[node] = false;
    if (!hold[node]) hold[nodes_[node].parent] = false;
  }
  hold[0] = false;
  if (hold == held_) return ApplyHeld();
  const std::vector<bool> before = std::exchange(held_, std::move(hold));
  HeldChanged();
  for (size_t node = 0; node < nodes_.size(); ++node) {
    if (before[node] && !held_[node]) SetTraining(node, is_training(0));
  }
  ApplyHeld();  // a released module may contain held layers
}

void ModuleTree::ApplyHeld() {
  for (size_t node = 0; node < nodes_.size(); ++node) {
    if (held_[node]) SetTraining(node, false);
  }
}

std::unique_ptr<ModuleTree> NnModuleTree(torch::nn::Module& model) {
  return std::make_unique<NnTree>(model);
}

std::unique_ptr<ModuleTree> ScriptModuleTree(const torch::jit::Module& model) {
  return std::make_unique<ScriptTree>(model);
}

std::unique_ptr<ModuleTree> NamedModuleTree(const Model& model) {
  return std::make_unique<NamedTree>(model);
}

}  // namespace trainyard

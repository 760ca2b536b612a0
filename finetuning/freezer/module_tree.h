// ModuleTree lists the modules of a model in order of definition, for
// ModelFreezer. The model is written in C++, or comes from TorchScript or
// torch.export.
//
//   const std::unique_ptr<ModuleTree> tree = NnModuleTree(*model);
//   for (const ModuleTree::Node& node : tree->nodes()) {
//     names.push_back(node.name);
//   }
//   tree->Hold(frozen);  // evaluation mode, even after train()
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_FREEZER_MODULE_TREE_H_
#define TRAINYARD_FINETUNING_FREEZER_MODULE_TREE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace torch::jit {
struct Module;
}  // namespace torch::jit

namespace trainyard {

class Model;

class ModuleTree {
 public:
  struct Node {
    // Full name, e.g. "encoder.0.norm"; empty for the model itself.
    std::string name;
    // E.g. "Conv2d".
    std::string type;
    // Index of the parent node. Parents come before their children. 0 for the
    // model itself.
    size_t parent = 0;
    bool has_children = false;
    // Whether it keeps running statistics.
    bool is_batch_norm = false;
    // Its own parameters, without those of its children; with full names.
    std::vector<NamedTensor> parameters;

    // A layer is a module that has no children or has parameters of its own.
    bool is_layer() const { return !has_children || !parameters.empty(); }
  };

  virtual ~ModuleTree() = default;

  // The first node is the model itself.
  const std::vector<Node>& nodes() const { return nodes_; }

  virtual bool is_training(size_t node) const = 0;

  // Puts the marked layers into evaluation mode and keeps them there. Layers
  // that were held before and are no longer marked get the model's mode. A
  // module whose layers are all held is held too, except the model itself.
  void Hold(const std::vector<bool>& layers);

  // Puts the held layers back into evaluation mode. Needed only for
  // TorchScript, whose train() switches them to training mode.
  void ApplyHeld();

 protected:
  std::vector<Node> nodes_;
  std::vector<bool> held_;  // one per node

 private:
  // Sets the mode of one module. Its children may change too.
  virtual void SetTraining(size_t node, bool training) = 0;
  // Called after held_ changed.
  virtual void HeldChanged() {}
};

// Borrows the model. While a layer is held, each module that contains it has an
// additional child without tensors that is notified by train(). clone() of such
// a module throws.
std::unique_ptr<ModuleTree> NnModuleTree(torch::nn::Module& model);

// Keeps the module: copies of a torch::jit::Module share one object.
std::unique_ptr<ModuleTree> ScriptModuleTree(const torch::jit::Module& model);

// Any model. Modules are derived from the names of parameters and buffers:
// modules without tensors are not listed, and types are unknown. The modules
// have no mode of their own. REQUIRES: Hold is never called with a marked
// layer.
std::unique_ptr<ModuleTree> NamedModuleTree(const Model& model);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_FREEZER_MODULE_TREE_H_

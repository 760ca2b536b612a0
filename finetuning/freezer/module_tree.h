// ModuleTree is a model as ModelFreezer sees it: its modules in the order of
// their definition, whether they were written in C++ or come from TorchScript
// or torch.export.
//
//   const std::unique_ptr<ModuleTree> tree = NnModuleTree(*model);
//   for (const ModuleTree::Node& node : tree->nodes()) Print(node.name);
//   tree->Hold(frozen);     // in evaluation mode, whatever train() says
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
    // With those it is in, e.g. "encoder.0.norm"; empty for the model itself.
    std::string name;
    // E.g. "Conv2d".
    std::string type;
    // The node that it is in; a node comes before those in it. 0 for the first.
    size_t parent = 0;
    bool has_children = false;
    // Whether it keeps statistics of what it has seen.
    bool is_batch_norm = false;
    // Its own, not those of modules in it; with their full names.
    std::vector<NamedTensor> parameters;

    // What freezing is about: a module without others in it, or with parameters
    // of its own.
    bool is_layer() const { return !has_children || !parameters.empty(); }
  };

  virtual ~ModuleTree() = default;

  // The model itself first.
  const std::vector<Node>& nodes() const { return nodes_; }

  virtual bool is_training(size_t node) const = 0;

  // Puts these layers to evaluation mode and keeps them there; those held
  // before and no more go to the model's mode. A module whose layers are all
  // held is held, too, unless it is the model itself.
  void Hold(const std::vector<bool>& layers);

  // For TorchScript, whose train() cannot be told of what is held: after it,
  // puts all that is held back to evaluation mode.
  void HoldAgain();

 protected:
  std::vector<Node> nodes_;
  std::vector<bool> held_;  // as nodes_

 private:
  // One module's mode, with that of all in it or without.
  virtual void SetTraining(size_t node, bool training) = 0;
  // What is held is other than before.
  virtual void HeldChanged() {}
};

// Borrows the model. While anything is held, each module around it has one more
// child, without tensors, that hears of train(): clone() of such a module
// throws.
std::unique_ptr<ModuleTree> NnModuleTree(torch::nn::Module& model);

// Copies of a torch::jit::Module are the same module.
std::unique_ptr<ModuleTree> ScriptModuleTree(const torch::jit::Module& model);

// Of any model, from the names of its parameters and buffers: modules without
// any are not seen, types are not known. Its modules have no modes of their
// own: REQUIRES that nothing is held.
std::unique_ptr<ModuleTree> NamedModuleTree(const Model& model);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_FREEZER_MODULE_TREE_H_

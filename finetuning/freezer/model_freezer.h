// ModelFreezer chooses which parts of a model are trained: layers (modules
// without others in them, or with parameters of their own), groups of them (the
// model's direct children), or whatever a pattern names.
//
//   ModelFreezer freezer(*model);
//   freezer.FreezeGroups();                       // all but the last
//   AdamW optimizer(*model, {.lr = 1e-3});        // trains the last
//   …
//   optimizer.AddGroup({.params = freezer.UnfreezeGroups(-2, -2)});
//
// Indices count in order of definition, from 0, or from the end: -1 is the
// last. Ranges include both ends, given in either order. A pattern is a glob
// over full names ('*' is any run of characters, '?' any one); it names
// parameters, and modules for all that is in them. Parameters of the model
// itself, in none of its children, are in no group: name them.
//
// A frozen parameter has no gradient, so that an optimizer that has it leaves
// it and its state alone. What was frozen before counts as frozen.
//
// Thread-compatible. Borrows the model.
#ifndef TRAINYARD_FINETUNING_FREEZER_MODEL_FREEZER_H_
#define TRAINYARD_FINETUNING_FREEZER_MODEL_FREEZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "finetuning/freezer/module_selection.h"
#include "finetuning/freezer/module_tree.h"
#include "trainer/model/named_tensor.h"
#include "trainer/state.h"

namespace trainyard {

// What freezing does to a batch norm, and to any layer that keeps statistics.
enum class BatchNorms {
  // Nothing, however it is reached: it goes on learning, and counting.
  kLeave,
  // Its weight and bias are frozen; its statistics still follow the data.
  kFreeze,
  // It also stays in evaluation mode, also after train(): it uses the
  // statistics it has, and they stay as they are.
  kFreezeWithStatistics,
};

struct ModelFreezerOptions {
  BatchNorms batch_norms = BatchNorms::kLeave;
  // Whether other frozen layers stay in evaluation mode, too: no dropout.
  bool eval_frozen = false;
};

class ModelFreezer final : public Stateful {
 public:
  explicit ModelFreezer(torch::nn::Module& model,
                        const ModelFreezerOptions& options = {});
  // train() of TorchScript cannot be told what is to stay in evaluation mode:
  // call ApplyModes after it.
  explicit ModelFreezer(const torch::jit::Module& model,
                        const ModelFreezerOptions& options = {});
  // Of any model, e.g. an ExportedModel, by the names of its parameters. Its
  // layers have no modes of their own: throws c10::ValueError for options that
  // keep some in evaluation mode.
  explicit ModelFreezer(const Model& model,
                        const ModelFreezerOptions& options = {});

  struct Layer {
    std::string name;  // empty: the model itself
    std::string type;
    int64_t group;  // -1: the model itself
    int64_t parameters, trainable;
    bool is_batch_norm;
    // None of its parameters is trained. Without parameters: as it was told.
    bool frozen;
    bool training;
  };
  std::vector<Layer> Layers() const;
  // The names of the direct children.
  std::vector<std::string> Groups() const;

  // These throw c10::IndexError for an index out of range, and c10::ValueError,
  // with the nearest names, for a pattern that names nothing that can be
  // frozen.
  void FreezeGroups(int64_t from = 0, int64_t to = -2);
  void FreezeLayers(int64_t from, int64_t to);
  void FreezeMatching(const std::string& pattern);
  // Return the parameters that were frozen and now are not, for an optimizer.
  std::vector<NamedTensor> UnfreezeGroups(int64_t from = 0, int64_t to = -1);
  std::vector<NamedTensor> UnfreezeLayers(int64_t from, int64_t to);
  std::vector<NamedTensor> UnfreezeMatching(const std::string& pattern);

  // What those would freeze or unfreeze, frozen or not.
  std::vector<NamedTensor> OfGroups(int64_t from, int64_t to) const;
  std::vector<NamedTensor> Matching(const std::string& pattern) const;

  // All that are trained, in the model's order.
  std::vector<NamedTensor> TrainableParameters() const;

  void ApplyModes() { tree_->HoldAgain(); }

  // By name, what is frozen. Loading throws std::invalid_argument if the
  // model's names are others.
  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  ModelFreezer(std::unique_ptr<ModuleTree> tree,
               const ModelFreezerOptions& options);
  std::vector<NamedTensor> Set(const std::vector<bool>& nodes,
                               const std::vector<NamedTensor>& parameters,
                               bool frozen);
  bool IsFrozen(size_t node) const;
  void HoldFrozen();

  std::unique_ptr<ModuleTree> tree_;
  ModelFreezerOptions options_;
  ModuleSelection selection_;
  std::vector<bool> told_;  // by node: frozen, as last told
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_FREEZER_MODEL_FREEZER_H_

// ModelFreezer selects which parameters of a model are trained: by layer (a
// module that has no children or has parameters of its own), by group (a direct
// child of the model), or by name.
//
//   ModelFreezer freezer(*model);
//   freezer.FreezeGroups();                 // all groups except the last
//   AdamW optimizer(*model, {.lr = 1e-2});  // trains the last group
//   …
//   optimizer.AddGroup({.params = freezer.UnfreezeGroups(-2, -2),
//                       .overrides = {{"lr", 1e-3}}});
//
// Indices count from 0 in order of definition; negative ones count from the
// end (-1 is the last). A range includes both ends, in either order. A pattern
// is a glob over full names ('*' matches any characters, '?' one character). It
// matches parameters, and modules with everything inside them. Parameters that
// belong to the model itself are in no group: select them by name.
//
// Freezing a parameter removes its gradient and clears requires_grad, so an
// optimizer skips it and its state. A parameter that was frozen before the
// freezer was made counts as frozen.
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

// What freezing does to batch norms and other layers with running statistics.
enum class BatchNorms {
  // Nothing, even if a pattern names it: its parameters are trained and its
  // statistics are updated.
  kLeave,
  // Freezes weight and bias. The statistics are still updated.
  kFreeze,
  // Also keeps the layer in evaluation mode, even after train(): it uses its
  // statistics and does not update them.
  kFreezeWithStatistics,
};

struct ModelFreezerOptions {
  BatchNorms batch_norms = BatchNorms::kLeave;
  // Whether the other frozen layers stay in evaluation mode, too (no dropout).
  bool eval_frozen = false;
};

class ModelFreezer final : public Stateful {
 public:
  explicit ModelFreezer(torch::nn::Module& model,
                        const ModelFreezerOptions& options = {});
  // TorchScript's train() switches frozen layers to training mode as well: call
  // ApplyModes after it.
  explicit ModelFreezer(const torch::jit::Module& model,
                        const ModelFreezerOptions& options = {});
  // Any model, e.g. an ExportedModel; the layers are derived from the names of
  // its parameters. Such layers have no mode of their own: throws
  // c10::ValueError if the options ask to keep layers in evaluation mode.
  explicit ModelFreezer(const Model& model,
                        const ModelFreezerOptions& options = {});

  struct Layer {
    std::string name;  // empty for the model itself
    std::string type;
    int64_t group;  // -1 for the model itself
    int64_t parameters, trainable;
    bool is_batch_norm;
    // Whether none of its parameters is trained. For a layer without
    // parameters: whether it was last frozen or unfrozen.
    bool frozen;
    bool training;
  };
  std::vector<Layer> Layers() const;
  // Names of the groups (the model's direct children).
  std::vector<std::string> Groups() const;

  // Throw c10::IndexError if an index is out of range, and c10::ValueError,
  // with the nearest names, if a pattern matches nothing that can be frozen.
  void FreezeGroups(int64_t from = 0, int64_t to = -2);
  void FreezeLayers(int64_t from, int64_t to);
  void FreezeMatching(const std::string& pattern);
  // Return the parameters that were frozen and are now trained, to add to an
  // optimizer. Throw as above.
  std::vector<NamedTensor> UnfreezeGroups(int64_t from = 0, int64_t to = -1);
  std::vector<NamedTensor> UnfreezeLayers(int64_t from, int64_t to);
  std::vector<NamedTensor> UnfreezeMatching(const std::string& pattern);

  // The parameters that the calls above would select, frozen or not.
  std::vector<NamedTensor> OfGroups(int64_t from, int64_t to) const;
  std::vector<NamedTensor> Matching(const std::string& pattern) const;

  // The trained parameters, in the model's order.
  std::vector<NamedTensor> TrainableParameters() const;

  // Puts the frozen layers back into evaluation mode, where the options ask for
  // it. Needed only for TorchScript, after train().
  void ApplyModes() { tree_->ApplyHeld(); }

  // The state lists which parameters are frozen, by name. LoadState throws
  // std::invalid_argument if the model has other names.
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
  std::vector<bool> frozen_nodes_;  // as last requested, one per node
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_FREEZER_MODEL_FREEZER_H_

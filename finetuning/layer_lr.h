// LayerLr makes parameter groups with layer-wise learning rates: lower layers
// learn more slowly, and biases and norms get no weight decay.
//
//   AdamW optimizer(
//       LayerLr(*model, {.lr = 1e-3, .decay = 0.65, .expand = {"blocks"}}),
//       {.lr = 1e-3, .weight_decay = 0.05});
//
// Layers are the model's direct children in order of definition. A child listed
// in `expand` is replaced by its own children. The last layer that has trained
// parameters gets `lr`; each earlier layer gets `decay` times the rate of the
// next one. Parameters of the model itself, such as a class token, belong to
// the first layer.
//
// To set options by parameter name: trainer/optim/param_group_rules.h.
// Thread-safe.
#ifndef TRAINYARD_FINETUNING_LAYER_LR_H_
#define TRAINYARD_FINETUNING_LAYER_LR_H_

#include <string>
#include <vector>

#include "trainer/optim/param_groups.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

class Model;

struct LayerLrOptions {
  // Learning rate of the last layer. REQUIRES: >= 0 and finite.
  double lr = 1e-3;
  // Ratio between the rates of a layer and of the next one. REQUIRES: > 0,
  // <= 1.
  double decay = 0.75;
  // Full names of modules whose children count as layers.
  std::vector<std::string> expand = {};
  // Whether parameters with fewer than two dimensions (biases and weights of
  // norms) get weight_decay 0.
  bool no_decay_for_bias_and_norm = true;
  // More parameters that get weight_decay 0: globs over full names.
  std::vector<std::string> no_decay = {};
};

// Groups the parameters that require gradients. Throws c10::ValueError if an
// option is out of range, or if a name in `expand` or a pattern in `no_decay`
// matches nothing (with the nearest names).
ParamGroups LayerLr(const torch::nn::Module& model,
                    const LayerLrOptions& options = {});
ParamGroups LayerLr(const Model& model, const LayerLrOptions& options = {});

// Names of the layers as LayerLr counts them, first to last.
std::vector<std::string> LayerNames(const torch::nn::Module& model,
                                    const std::vector<std::string>& expand);
std::vector<std::string> LayerNames(const Model& model,
                                    const std::vector<std::string>& expand);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LAYER_LR_H_

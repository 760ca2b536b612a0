// LayerLr makes the param groups that fine-tuning usually wants: lower layers
// learn more slowly, and biases and norms are not decayed.
//
//   AdamW optimizer(LayerLr(*model, {.lr = 1e-3, .decay = 0.65,
//                                    .expand = {"encoder.blocks"}}),
//                   {.lr = 1e-3, .weight_decay = 0.05});
//
// Layers are the model's direct children in order of definition; a child that
// is in `expand` counts as many layers as it has children. The last layer with
// something to train has lr; each one before it, decay times the next one's.
// Parameters of the model itself, such as a class token, are of the first.
//
// Rules that name parameters one by one: trainer/optim/param_group_rules.h.
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
  // The last layer's. REQUIRES: >= 0 and finite.
  double lr = 1e-3;
  // The learning rate of a layer over that of the layer after it. REQUIRES:
  // above 0, at most 1.
  double decay = 0.75;
  // Modules whose children are layers of their own, by full name.
  std::vector<std::string> expand = {};
  // Whether parameters of fewer than two dimensions, which are biases and the
  // weights of norms, get weight_decay 0.
  bool no_decay_for_bias_and_norm = true;
  // Others that get it: globs over full parameter names.
  std::vector<std::string> no_decay = {};
};

// Of the parameters that require gradients. Throws c10::ValueError for a bad
// option, a module in `expand` that is not there, and a pattern that matches
// nothing, with near names.
ParamGroups LayerLr(const torch::nn::Module& model,
                    const LayerLrOptions& options = {});
ParamGroups LayerLr(const Model& model, const LayerLrOptions& options = {});

// The names of the layers that LayerLr sees, first to last.
std::vector<std::string> LayerNames(const torch::nn::Module& model,
                                    const std::vector<std::string>& expand);
std::vector<std::string> LayerNames(const Model& model,
                                    const std::vector<std::string>& expand);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LAYER_LR_H_

#include "finetuning/layer_lr.h"

#include <c10/util/Exception.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "finetuning/near_names.h"
#include "trainer/optim/param_group_rules.h"

namespace trainyard {
namespace {

bool IsIn(const std::string& parameter, const std::string& module) {
  return parameter.starts_with(module + ".");
}

void AddLayers(const torch::nn::Module& module, const std::string& prefix,
               const std::set<std::string>& expand,
               std::vector<std::string>& layers) {
  for (const auto& child : module.named_children()) {
    const std::string name = prefix + child.key();
    const bool within = std::any_of(
        expand.begin(), expand.end(),
        [&](const std::string& one) { return one == name || IsIn(one, name); });
    if (within) {
      AddLayers(*child.value(), name + ".", expand, layers);
    } else {
      layers.push_back(name);
    }
  }
}

}  // namespace

std::vector<std::string> LayerNames(const torch::nn::Module& model,
                                    const std::vector<std::string>& expand) {
  const auto modules = model.named_modules("", /*include_self=*/false);
  for (const std::string& name : expand) {
    const auto* const found = modules.find(name);
    if (found != nullptr && !(*found)->children().empty()) continue;
    TORCH_CHECK_VALUE(found == nullptr, "LayerLr: \"", name,
                      "\" in expand has no child modules");
    TORCH_CHECK_VALUE(false, "LayerLr: there is no module \"", name,
                      "\", which is in expand; near it are ",
                      QuotedNearNames(name, modules.keys()));
  }
  std::vector<std::string> layers;
  AddLayers(model, "", {expand.begin(), expand.end()}, layers);
  return layers;
}

ParamGroups LayerLr(const torch::nn::Module& model,
                    const LayerLrOptions& options) {
  TORCH_CHECK_VALUE(std::isfinite(options.lr) && options.lr >= 0,
                    "LayerLr: lr is ", options.lr,
                    "; it must be finite and at least 0");
  TORCH_CHECK_VALUE(options.decay > 0 && options.decay <= 1,
                    "LayerLr: decay is ", options.decay,
                    "; it must be above 0 and at most 1");
  ParamGroups groups(model);
  const std::vector<NamedTensor> parameters = groups.groups()[0].params;
  if (options.no_decay_for_bias_and_norm)
    groups = NoDecayForBiasAndNorm(groups);
  for (const std::string& pattern : options.no_decay) {
    std::vector<std::string> names;
    for (const NamedTensor& item : parameters) names.push_back(item.name);
    const bool any = std::any_of(
        names.begin(), names.end(),
        [&](const std::string& name) { return MatchesGlob(name, pattern); });
    TORCH_CHECK_VALUE(any, "LayerLr: \"", pattern,
                      "\" in no_decay matches no parameter that is trained; "
                      "near it are ",
                      QuotedNearNames(pattern, names));
    groups = OverrideByName(groups, {{pattern, {{"weight_decay", 0}}}});
  }
  std::vector<std::string> layers = LayerNames(model, options.expand);
  std::erase_if(layers, [&](const std::string& layer) {
    return std::none_of(
        parameters.begin(), parameters.end(),
        [&](const NamedTensor& item) { return IsIn(item.name, layer); });
  });
  std::vector<NameRule> rules;
  double lr = options.lr;
  for (size_t i = layers.size(); i > 0; --i) {
    rules.push_back({layers[i - 1] + ".*", {{"lr", lr}}});
    if (i > 1) lr *= options.decay;
  }
  const bool has_rest = std::any_of(
      parameters.begin(), parameters.end(), [&](const NamedTensor& item) {
        return std::none_of(
            layers.begin(), layers.end(),
            [&](const std::string& layer) { return IsIn(item.name, layer); });
      });
  if (has_rest) rules.push_back({"*", {{"lr", lr}}});
  return OverrideByName(groups, rules);
}

}  // namespace trainyard

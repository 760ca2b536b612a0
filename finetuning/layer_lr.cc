#include "finetuning/layer_lr.h"

#include <c10/util/Exception.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "finetuning/near_names.h"
#include "trainer/model/model.h"
#include "trainer/optim/param_group_rules.h"

namespace trainyard {
namespace {

bool IsIn(const std::string& parameter, const std::string& module) {
  return parameter.starts_with(module + ".");
}

// `modules` are the full names of all modules, in order of definition.
using ModuleNames = std::vector<std::string>;

// The modules directly in `module`; in the model itself if it is empty.
ModuleNames Children(const ModuleNames& modules, const std::string& module) {
  const size_t start = module.empty() ? 0 : module.size() + 1;
  ModuleNames children;
  for (const std::string& name : modules) {
    const bool is_within = module.empty() || IsIn(name, module);
    if (is_within && name.find('.', start) == std::string::npos) {
      children.push_back(name);
    }
  }
  return children;
}

void AddLayers(const ModuleNames& modules, const std::string& module,
               const std::set<std::string>& expand,
               std::vector<std::string>& layers) {
  for (const std::string& name : Children(modules, module)) {
    const bool within = std::any_of(
        expand.begin(), expand.end(),
        [&](const std::string& one) { return one == name || IsIn(one, name); });
    if (within) {
      AddLayers(modules, name, expand, layers);
    } else {
      layers.push_back(name);
    }
  }
}

std::vector<std::string> LayersOf(const ModuleNames& modules,
                                  const std::vector<std::string>& expand) {
  for (const std::string& name : expand) {
    const bool is_there =
        std::find(modules.begin(), modules.end(), name) != modules.end();
    if (is_there && !Children(modules, name).empty()) continue;
    TORCH_CHECK_VALUE(!is_there, "LayerLr: \"", name,
                      "\" in expand has no child modules");
    TORCH_CHECK_VALUE(false, "LayerLr: there is no module \"", name,
                      "\", which is in expand; near it are ",
                      QuotedNearNames(name, modules));
  }
  std::vector<std::string> layers;
  AddLayers(modules, "", {expand.begin(), expand.end()}, layers);
  return layers;
}

ModuleNames ModulesOf(const torch::nn::Module& model) {
  return model.named_modules("", /*include_self=*/false).keys();
}

// From the names of its parameters: those without any do not learn.
ModuleNames ModulesOf(const Model& model) {
  ModuleNames modules;
  std::set<std::string> seen;
  for (const NamedTensor& item : model.Parameters()) {
    for (size_t dot = item.name.find('.'); dot != std::string::npos;
         dot = item.name.find('.', dot + 1)) {
      const std::string name = item.name.substr(0, dot);
      if (seen.insert(name).second) modules.push_back(name);
    }
  }
  return modules;
}

ParamGroups Grouped(ParamGroups groups, const ModuleNames& modules,
                    const LayerLrOptions& options) {
  TORCH_CHECK_VALUE(std::isfinite(options.lr) && options.lr >= 0,
                    "LayerLr: lr is ", options.lr,
                    "; it must be finite and at least 0");
  TORCH_CHECK_VALUE(options.decay > 0 && options.decay <= 1,
                    "LayerLr: decay is ", options.decay,
                    "; it must be above 0 and at most 1");
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
  std::vector<std::string> layers = LayersOf(modules, options.expand);
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

}  // namespace

ParamGroups LayerLr(const torch::nn::Module& model,
                    const LayerLrOptions& options) {
  return Grouped(ParamGroups(model), ModulesOf(model), options);
}

ParamGroups LayerLr(const Model& model, const LayerLrOptions& options) {
  return Grouped(ParamGroups(model), ModulesOf(model), options);
}

std::vector<std::string> LayerNames(const torch::nn::Module& model,
                                    const std::vector<std::string>& expand) {
  return LayersOf(ModulesOf(model), expand);
}

std::vector<std::string> LayerNames(const Model& model,
                                    const std::vector<std::string>& expand) {
  return LayersOf(ModulesOf(model), expand);
}

}  // namespace trainyard

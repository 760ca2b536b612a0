#include "trainer/optim/param_groups.h"

#include <c10/util/Exception.h>
#include <torch/nn/module.h>

#include <set>
#include <utility>

#include "trainer/model/model.h"

namespace trainyard {

namespace {

// Those that require gradients. A parameter that the model has under several
// names (tied weights) is returned once, under the first.
std::vector<NamedTensor> Trainable(std::vector<NamedTensor> named) {
  std::set<const void*> seen;
  std::erase_if(named, [&](const NamedTensor& item) {
    return !item.tensor.requires_grad() ||
           !seen.insert(item.tensor.unsafeGetTensorImpl()).second;
  });
  return named;
}

}  // namespace

std::vector<NamedTensor> NamedParameters(const torch::nn::Module& module) {
  std::vector<NamedTensor> named;
  for (const auto& item : module.named_parameters()) {
    named.push_back({item.key(), item.value()});
  }
  return Trainable(std::move(named));
}

std::vector<NamedTensor> NamedParameters(const Model& model) {
  return Trainable(model.Parameters());
}

ParamGroups::ParamGroups(const Model& model)
    : ParamGroups(std::vector<ParamGroup>{{.params = NamedParameters(model)}}) {
}

ParamGroups::ParamGroups(const torch::nn::Module& module)
    : ParamGroups(
          std::vector<ParamGroup>{{.params = NamedParameters(module)}}) {}

ParamGroups::ParamGroups(const std::vector<at::Tensor>& tensors)
    : ParamGroups([&] {
        ParamGroup group;
        for (const at::Tensor& tensor : tensors)
          group.params.push_back({std::to_string(group.params.size()), tensor});
        return std::vector<ParamGroup>{std::move(group)};
      }()) {}

ParamGroups::ParamGroups(std::vector<ParamGroup> groups)
    : groups_(std::move(groups)) {
  std::set<std::string> names;
  std::set<const void*> tensors;
  for (const ParamGroup& group : groups_) {
    for (const NamedTensor& param : group.params) {
      TORCH_CHECK_VALUE(param.tensor.defined() && param.tensor.is_leaf() &&
                            param.tensor.requires_grad(),
                        "ParamGroups: parameter \"", param.name,
                        "\" is not a leaf tensor that requires gradients");
      TORCH_CHECK_VALUE(names.insert(param.name).second,
                        "ParamGroups: two parameters are named \"", param.name,
                        "\"");
      TORCH_CHECK_VALUE(
          tensors.insert(param.tensor.unsafeGetTensorImpl()).second,
          "ParamGroups: parameter \"", param.name,
          "\" occurs twice; a parameter belongs to one group");
    }
  }
  TORCH_CHECK_VALUE(!names.empty(),
                    "ParamGroups: there are no parameters to train");
}

}  // namespace trainyard

// ParamGroups says which parameters an optimizer trains, under which names, and
// where a group differs from the optimizer's options. One constructor for each
// way people have them:
//
//   // A module or a Model: its trainable parameters, by name.
//   AdamW a(*model, {.lr = 1e-3});
//   // A list: named "0", "1", …
//   AdamW b(model->parameters(), {.lr = 1e-3});
//   // Groups. No name stands twice.
//   AdamW c({{.params = {{"body", body}}, .overrides = {{"lr", 1e-4}}},
//            {.params = {{"head", head}}}},
//           {.lr = 1e-3});
//
// State is saved under these names, never by position. Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_PARAM_GROUPS_H_
#define TRAINYARD_TRAINER_OPTIM_PARAM_GROUPS_H_

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "trainer/model/named_tensor.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

class Model;

// The parameters that require gradients, in the model's order, with their full
// names.
std::vector<NamedTensor> NamedParameters(const torch::nn::Module& module);
std::vector<NamedTensor> NamedParameters(const Model& model);

struct ParamGroup {
  std::vector<NamedTensor> params;
  // Fields that are not as in the optimizer's options, e.g. {"weight_decay",
  // 0}.
  std::map<std::string, double> overrides = {};
};

class ParamGroups {
 public:
  ParamGroups(const torch::nn::Module& module);  // NOLINT: implicit, see above
  ParamGroups(const Model& model);               // NOLINT
  ParamGroups(const std::vector<at::Tensor>& tensors);    // NOLINT
  ParamGroups(std::vector<ParamGroup> groups);            // NOLINT
  ParamGroups(std::initializer_list<at::Tensor> tensors)  // NOLINT
      : ParamGroups(std::vector<at::Tensor>(tensors)) {}
  ParamGroups(std::initializer_list<ParamGroup> groups)  // NOLINT
      : ParamGroups(std::vector<ParamGroup>(groups)) {}

  const std::vector<ParamGroup>& groups() const { return groups_; }

 private:
  std::vector<ParamGroup> groups_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_PARAM_GROUPS_H_

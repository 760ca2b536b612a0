#include "trainer/optim/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>

namespace trainyard {
namespace {

// A group's numbers by name. libtorch's own schedulers see "lr" through get_lr
// and set_lr.
class FieldOptions final : public torch::optim::OptimizerOptions {
 public:
  explicit FieldOptions(std::vector<std::pair<std::string, double>> fields)
      : fields_(std::move(fields)) {}

  std::unique_ptr<torch::optim::OptimizerOptions> clone() const override {
    return std::make_unique<FieldOptions>(*this);
  }
  double get_lr() const override {
    return *const_cast<FieldOptions*>(this)->Find("lr");
  }
  void set_lr(const double lr) override { *Find("lr") = lr; }

  double* Find(std::string_view name) {
    for (auto& [key, value] : fields_) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  std::string Names() const {
    std::string names;
    for (const auto& [key, value] : fields_)
      names += (names.empty() ? "" : ", ") + key;
    return names;
  }

 private:
  std::vector<std::pair<std::string, double>> fields_;
};

std::vector<torch::optim::OptimizerParamGroup> TorchGroups(
    const ParamGroups& groups) {
  std::vector<torch::optim::OptimizerParamGroup> torch_groups;
  for (const ParamGroup& group : groups.groups()) {
    std::vector<at::Tensor> params;
    for (const NamedTensor& param : group.params)
      params.push_back(param.tensor);
    torch_groups.emplace_back(std::move(params));
  }
  return torch_groups;
}

}  // namespace

Optimizer::Optimizer(const std::string& name, const ParamGroups& groups,
                     const Fields& defaults)
    : torch::optim::Optimizer(TorchGroups(groups),
                              std::make_unique<FieldOptions>(defaults)),
      name_(name) {
  for (const ParamGroup& group : groups.groups()) {
    // Set here: libtorch would merge them with the defaults by rules of its
    // own.
    auto options = std::make_unique<FieldOptions>(defaults);
    for (const auto& [field, value] : group.overrides) {
      double* const at = options->Find(field);
      TORCH_CHECK_VALUE(at != nullptr, name, ": a group overrides \"", field,
                        "\", which is not one of: ", options->Names());
      *at = value;
    }
    param_groups()[names_.size()].set_options(std::move(options));
    names_.emplace_back();
    for (const NamedTensor& param : group.params) {
      names_.back().push_back(param.name);
      parameters_.push_back(param.tensor);
    }
  }
  gradients_.reserve(parameters_.size());
}

at::Tensor Optimizer::step(LossClosure closure) {
  at::Tensor loss;
  if (closure) {
    const at::AutoGradMode with_gradients(true);
    loss = closure();
  }
  const at::NoGradGuard no_gradients;
  Step(std::nullopt);
  return loss;
}

void Optimizer::ZeroGrad() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

const std::vector<at::Tensor>& Optimizer::Gradients() {
  gradients_.clear();
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) gradients_.push_back(parameter.grad());
  }
  return gradients_;
}

double& Optimizer::Field(size_t group, std::string_view name) {
  TORCH_CHECK_INDEX(group < num_groups(), name_, ": there is no group ", group,
                    "; there are ", num_groups());
  auto& options = static_cast<FieldOptions&>(param_groups()[group].options());
  double* const field = options.Find(name);
  TORCH_CHECK_VALUE(field != nullptr, name_, ": there is no field \"", name,
                    "\"; there are: ", options.Names());
  return *field;
}

}  // namespace trainyard

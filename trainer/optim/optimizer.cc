#include "trainer/optim/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <memory>
#include <utility>

namespace trainyard {
namespace {

// A group's numbers by name. libtorch's own schedulers see "lr" through get_lr
// and set_lr.
class FieldOptions final : public torch::optim::OptimizerOptions {
 public:
  explicit FieldOptions(const std::vector<FieldSpec>& fields) {
    for (const FieldSpec& field : fields) {
      names_.push_back(field.name);
      values_.push_back(field.value);
    }
  }

  std::unique_ptr<torch::optim::OptimizerOptions> clone() const override {
    return std::make_unique<FieldOptions>(*this);
  }
  double get_lr() const override {
    return *const_cast<FieldOptions*>(this)->Find("lr");
  }
  void set_lr(const double lr) override { *Find("lr") = lr; }

  double* Find(std::string_view name) {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return &values_[i];
    }
    return nullptr;
  }
  const double* values() const { return values_.data(); }
  std::vector<std::pair<std::string, double>> Named() const {
    std::vector<std::pair<std::string, double>> named;
    for (size_t i = 0; i < names_.size(); ++i) {
      named.emplace_back(names_[i], values_[i]);
    }
    return named;
  }
  std::string Names() const {
    std::string all;
    for (const std::string& name : names_) {
      all += (all.empty() ? "" : ", ") + name;
    }
    return all;
  }

 private:
  std::vector<std::string> names_;
  std::vector<double> values_;
};

std::vector<torch::optim::OptimizerParamGroup> TorchGroups(
    const ParamGroups& groups) {
  std::vector<torch::optim::OptimizerParamGroup> torch_groups;
  for (const ParamGroup& group : groups.groups()) {
    std::vector<at::Tensor> params;
    for (const NamedTensor& param : group.params) {
      params.push_back(param.tensor);
    }
    torch_groups.emplace_back(std::move(params));
  }
  return torch_groups;
}

}  // namespace

Optimizer::Optimizer(const std::string& name, const ParamGroups& groups,
                     const std::vector<FieldSpec>& fields)
    : torch::optim::Optimizer(TorchGroups(groups),
                              std::make_unique<FieldOptions>(fields)),
      name_(name) {
  for (size_t index = 0; index < groups.groups().size(); ++index) {
    const ParamGroup& group = groups.groups()[index];
    // Set here: libtorch would merge them with the defaults by rules of its
    // own.
    auto options = std::make_unique<FieldOptions>(fields);
    for (const auto& [field, value] : group.overrides) {
      double* const at = options->Find(field);
      TORCH_CHECK_VALUE(at != nullptr, name, ": a group overrides \"", field,
                        "\", which is not one of: ", options->Names());
      *at = value;
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      fields[i].Check(name, options->values()[i]);
    }
    param_groups()[index].set_options(std::move(options));
    for (const NamedTensor& param : group.params) {
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

void Optimizer::StepDivided(const at::Tensor& divisor) {
  const at::NoGradGuard no_gradients;
  Step(divisor);
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

std::vector<std::pair<std::string, double>> Optimizer::Fields(
    size_t group) const {
  return static_cast<const FieldOptions&>(param_groups()[group].options())
      .Named();
}

StateMismatch Optimizer::LoadState(const std::vector<NamedTensor>& state,
                                   bool strict) {
  const std::vector<NamedTensor> own = State();
  StateMismatch mismatch = CompareState(own, state);
  TORCH_CHECK_VALUE(!strict || mismatch.empty(), name_,
                    ": the state does not fit: ", mismatch.ToString());
  CopyState(own, state);
  return mismatch;
}

const double* Optimizer::fields(size_t group) const {
  return static_cast<const FieldOptions&>(param_groups()[group].options())
      .values();
}

}  // namespace trainyard

#include "trainer/optim/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "trainer/model/tensor_match.h"
#include "trainer/model/tensor_slice.h"

namespace trainyard {
namespace {

// The fields of a group by name. libtorch's own schedulers see "lr" through
// get_lr and set_lr.
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
  const double* initial() const { return initial_.data(); }
  // Remembers the current values as the initial ones.
  void KeepInitial() { initial_ = values_; }
  double Initial(std::string_view name) {
    const double* const value = Find(name);
    return value == nullptr ? 0 : initial_[value - values_.data()];
  }
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
  std::vector<double> initial_;
};

std::vector<at::Tensor> Tensors(const ParamGroup& group) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& param : group.params) tensors.push_back(param.tensor);
  return tensors;
}

std::vector<torch::optim::OptimizerParamGroup> TorchGroups(
    const ParamGroups& groups) {
  std::vector<torch::optim::OptimizerParamGroup> torch_groups;
  for (const ParamGroup& group : groups.groups()) {
    torch_groups.emplace_back(Tensors(group));
  }
  return torch_groups;
}

}  // namespace

Optimizer::Optimizer(const std::string& name, const ParamGroups& groups,
                     const std::vector<FieldSpec>& fields)
    : torch::optim::Optimizer(TorchGroups(groups),
                              std::make_unique<FieldOptions>(fields)),
      name_(name),
      specs_(fields) {
  for (size_t index = 0; index < groups.groups().size(); ++index) {
    Configure(index, groups.groups()[index]);
  }
}

void Optimizer::Configure(size_t index, const ParamGroup& group) {
  // Set here, because libtorch would merge them with the defaults by its own
  // rules.
  auto options = std::make_unique<FieldOptions>(specs_);
  for (const auto& [field, value] : group.overrides) {
    double* const at = options->Find(field);
    TORCH_CHECK_VALUE(at != nullptr, name_, ": a group overrides \"", field,
                      "\", which is not one of: ", options->Names());
    *at = value;
  }
  for (size_t i = 0; i < specs_.size(); ++i) {
    specs_[i].Check(name_, options->values()[i]);
  }
  options->KeepInitial();
  param_groups()[index].set_options(std::move(options));
  for (const NamedTensor& param : group.params) {
    names_.insert(param.name);
    param_names_.push_back(param.name);
    parameters_.push_back(param.tensor);
  }
  gradients_.reserve(parameters_.size());
}

void Optimizer::AddGroup(const ParamGroup& group) {
  const ParamGroups checked({group});
  for (const NamedTensor& param : group.params) {
    TORCH_CHECK_VALUE(
        !names_.contains(param.name) && !Trains(param.tensor), name_,
        ": parameter \"", param.name,
        "\" is already trained; a parameter belongs to one group");
  }
  const size_t before = parameters_.size();
  // The groups may move in memory, but their values do not.
  param_groups().emplace_back(Tensors(group));
  try {
    Configure(num_groups() - 1, group);
    CheckGroup(num_groups() - 1, group);
    GroupAdded(group);
  } catch (...) {
    param_groups().pop_back();
    if (parameters_.size() > before) {
      for (const NamedTensor& param : group.params) names_.erase(param.name);
      parameters_.resize(before);
      param_names_.resize(before);
    }
    throw;
  }
}

void Optimizer::GroupAdded(const ParamGroup&) {
  TORCH_CHECK_VALUE(
      false, name_,
      ": does not support AddGroup: create it with all parameters");
}

bool Optimizer::Trains(const at::Tensor& parameter) const {
  return std::any_of(
             parameters_.begin(), parameters_.end(),
             [&](const at::Tensor& own) { return own.is_same(parameter); }) ||
         std::any_of(slices_.begin(), slices_.end(), [&](const auto& item) {
           return item.second.whole.is_same(parameter);
         });
}

void Optimizer::ReplaceBySlices(const SlicesByWhole&) {
  TORCH_CHECK_VALUE(false, name_, ": cannot update slices of parameters");
}

void Optimizer::UseSlices(const std::vector<ParamSlice>& slices) {
  TORCH_CHECK_VALUE(
      element_wise(), name_,
      ": an update looks at whole tensors, so the state cannot be sharded over "
      "ranks; use an element-wise optimizer, e.g. AdamW, or the backend "
      "\"ddp\"");
  SlicesByWhole by_whole;
  for (const ParamSlice& item : slices) {
    by_whole[item.whole.unsafeGetTensorImpl()] = &item;
  }
  ReplaceBySlices(by_whole);
  const auto replace = [&](at::Tensor& parameter) {
    const auto found = by_whole.find(parameter.unsafeGetTensorImpl());
    if (found == by_whole.end()) return static_cast<const ParamSlice*>(nullptr);
    parameter = found->second->slice;
    return found->second;
  };
  for (auto& group : param_groups()) {
    for (at::Tensor& parameter : group.params()) replace(parameter);
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (const ParamSlice* const item = replace(parameters_[i])) {
      slices_[param_names_[i]] = *item;
    }
  }
}

std::vector<NamedTensor> Optimizer::CutToSlices(
    const std::vector<NamedTensor>& saved) const {
  if (slices_.empty()) return saved;
  // A parameter without dimensions has the shape of a counter: only a slice of
  // one dimension tells what is to be cut.
  std::set<std::string> in_one_dimension;
  for (const NamedTensor& item : NamedTensors()) {
    if (item.tensor.dim() == 1) in_one_dimension.insert(item.name);
  }
  std::vector<NamedTensor> tensors = saved;
  for (NamedTensor& item : tensors) {
    const auto found = slices_.find(item.name.substr(0, item.name.rfind('/')));
    if (found == slices_.end()) continue;
    const ParamSlice& slice = found->second;
    if (item.tensor.sizes() == slice.whole.sizes() &&
        (item.tensor.dim() > 0 || in_one_dimension.contains(item.name))) {
      item.tensor = SliceOf(item.tensor, slice.begin, slice.slice.numel());
    }
  }
  return tensors;
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

void Optimizer::StepUnless(const at::Tensor& skip,
                           const std::optional<at::Tensor>& divisor) {
  TORCH_CHECK_VALUE(skips_on_device(), name_,
                    ": StepUnless: cannot skip a step on the device; read the "
                    "flag and call step");
  const at::NoGradGuard no_gradients;
  skip_ = skip;
  try {
    Step(divisor);
  } catch (...) {
    skip_.reset();
    throw;
  }
  skip_.reset();
}

void Optimizer::ZeroGrad() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  for (auto& [name, item] : slices_) item.whole.mutable_grad().reset();
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

double Optimizer::InitialField(size_t group, std::string_view name) const {
  const_cast<Optimizer*>(this)->Field(
      group, name);  // throws if there is no such field
  auto& options = const_cast<torch::optim::OptimizerOptions&>(
      param_groups()[group].options());
  return static_cast<FieldOptions&>(options).Initial(name);
}

std::vector<std::pair<std::string, double>> Optimizer::Fields(
    size_t group) const {
  return static_cast<const FieldOptions&>(param_groups()[group].options())
      .Named();
}

void Optimizer::LoadTensors(const std::vector<NamedTensor>& tensors) {
  const absl::Status loaded = trainyard::LoadTensors(
      CutToSlices(tensors), NamedTensors(), TensorTypes::kConvert);
  TORCH_CHECK_VALUE(loaded.ok(), name_, ": ", std::string(loaded.message()));
}

State Optimizer::SaveState() const {
  State state;
  for (size_t group = 0; group < num_groups(); ++group) {
    for (const auto& [field, value] : Fields(group)) {
      state.Set(std::to_string(group) + "/" + field, value);
    }
  }
  return state;
}

void Optimizer::LoadState(const State& state) {
  state.CheckVersion(1);
  std::vector<std::pair<double*, double>> loaded;
  for (size_t group = 0; group < num_groups(); ++group) {
    for (const auto& [field, value] : Fields(group)) {
      loaded.emplace_back(
          &Field(group, field),
          state.Get<double>(std::to_string(group) + "/" + field));
    }
  }
  for (const auto& [field, value] : loaded) *field = value;
}

const double* Optimizer::fields(size_t group) const {
  return static_cast<const FieldOptions&>(param_groups()[group].options())
      .values();
}

const double* Optimizer::initial_fields(size_t group) const {
  return static_cast<const FieldOptions&>(param_groups()[group].options())
      .initial();
}

}  // namespace trainyard

#include "trainer/optim/torch_optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/Type.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/lbfgs.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <limits>
#include <map>
#include <typeinfo>
#include <utility>

#include "trainer/model/tensor_match.h"
#include "trainer/model/tensor_slice.h"
#include "trainer/optim/torch_optimizer_kinds.h"

namespace trainyard {
namespace {

using torch::optim::OptimizerOptions;
using torch::optim::OptimizerParamState;
using Kind = TorchOptimizerKind;

constexpr char kMade[] = "made";
constexpr char kArchive[] = "archive";

// The wrapped optimizer has checked its options itself.
constexpr FieldRange kAnyNumber = {
    .least = -std::numeric_limits<double>::infinity()};

std::string TypeName(const torch::optim::Optimizer& optimizer) {
  return c10::demangle(typeid(optimizer).name());
}

at::Tensor Count(int64_t value) { return at::scalar_tensor(value, at::kLong); }

// A saved state by name; tells what does not fit.
class Given {
 public:
  explicit Given(const std::vector<NamedTensor>& state) {
    for (const NamedTensor& item : state) left_[item.name] = item.tensor;
  }
  // The tensor of that name and shape; undefined, with a note, if there is
  // none.
  at::Tensor Take(const std::string& name, at::IntArrayRef sizes) {
    const auto found = left_.find(name);
    if (found == left_.end()) {
      differences_.missing.push_back(name);
      return {};
    }
    at::Tensor tensor = left_.extract(found).mapped();
    if (tensor.sizes() == sizes) return tensor;
    differences_.different.push_back(
        c10::str(name, ": saved as ", tensor.sizes(), ", wanted as ", sizes));
    return {};
  }
  bool Has(const std::string& name) const { return left_.contains(name); }
  // Everything that nobody took is unexpected.
  TensorDifferences Finish() {
    for (const auto& [name, tensor] : left_)
      differences_.unexpected.push_back(name);
    return differences_;
  }
  size_t problems() const {
    return differences_.missing.size() + differences_.different.size();
  }

 private:
  std::map<std::string, at::Tensor> left_;
  TensorDifferences differences_;
};

// A parameter's state as saved, or null before its first update.
std::unique_ptr<OptimizerParamState> TakeState(const Kind& kind,
                                               const NamedTensor& param,
                                               const OptimizerOptions& options,
                                               Given& given) {
  const std::string prefix = param.name + "/";
  const at::Tensor made = given.Take(prefix + kMade, {});
  if (!made.defined() || made.item<int64_t>() == 0) return nullptr;
  std::unique_ptr<OptimizerParamState> state = kind.make();
  const TorchStateSlots slots = kind.slots(*state, options);
  if (slots.step != nullptr) {
    const at::Tensor step = given.Take(prefix + "step", {});
    if (step.defined()) *slots.step = step.item<int64_t>();
  }
  for (const TorchStateSlots::Slot& slot : slots.tensors) {
    if (!slot.needed && !given.Has(prefix + slot.name)) continue;
    const at::Tensor tensor =
        given.Take(prefix + slot.name, param.tensor.sizes());
    if (tensor.defined())
      *slot.tensor = at::empty_like(param.tensor.detach()).copy_(tensor);
  }
  return state;
}

}  // namespace

// What the base is made from.
struct TorchOptimizer::Parts {
  Parts(std::unique_ptr<torch::optim::Optimizer> wrapped,
        const ParamGroups& names)
      : inner(std::move(wrapped)) {
    TORCH_CHECK_VALUE(inner != nullptr, "TorchOptimizer: inner is null");
    TORCH_CHECK_VALUE(
        dynamic_cast<torch::optim::LBFGS*>(inner.get()) == nullptr,
        "TorchOptimizer: torch::optim::LBFGS asks for several losses per "
        "update; use trainyard::LBFGS in a loop of your own");
    name = TypeName(*inner);
    for (size_t i = 0; i < inner->param_groups().size(); ++i)
      AddGroup(i, names);
    for (const TorchOptionField& field : TorchFieldsOf(options(0)))
      specs.push_back({field.name, field.Get(), kAnyNumber});
  }

  OptimizerOptions& options(size_t group) {
    return inner->param_groups()[group].options();
  }

  void AddGroup(size_t index, const ParamGroups& names) {
    ParamGroup group;
    const std::vector<at::Tensor>& tensors =
        inner->param_groups()[index].params();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::optional<std::string> found = NameOf(tensors[i], names);
      if (found) group.params.push_back({*found, tensors[i]});
      TORCH_CHECK_VALUE(found || !tensors[i].requires_grad(),
                        "TorchOptimizer: parameter ", i, " of group ", index,
                        " of ", name,
                        " has no name; pass the model that it "
                        "belongs to, or ParamGroups with all parameters");
    }
    for (const TorchOptionField& field : TorchFieldsOf(options(index)))
      group.overrides[field.name] = field.Get();
    groups.push_back(std::move(group));
  }

  static std::optional<std::string> NameOf(const at::Tensor& tensor,
                                           const ParamGroups& names) {
    for (const ParamGroup& group : names.groups()) {
      for (const NamedTensor& param : group.params)
        if (param.tensor.is_same(tensor)) return param.name;
    }
    return std::nullopt;
  }

  std::unique_ptr<torch::optim::Optimizer> inner;
  std::string name;
  std::vector<ParamGroup> groups;
  std::vector<FieldSpec> specs;
};

TorchOptimizer::TorchOptimizer(std::unique_ptr<torch::optim::Optimizer> inner,
                               const ParamGroups& names)
    : TorchOptimizer(Parts(std::move(inner), names)) {}

TorchOptimizer::TorchOptimizer(Parts parts)
    : Optimizer(parts.name, parts.groups, parts.specs),
      inner_(std::move(parts.inner)) {
  for (const ParamGroup& group : parts.groups) params_.push_back(group.params);
}

TorchOptimizer::~TorchOptimizer() = default;

void TorchOptimizer::GroupAdded(const ParamGroup& group) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& param : group.params) tensors.push_back(param.tensor);
  inner_->add_param_group(torch::optim::OptimizerParamGroup(tensors));
  params_.push_back(group.params);
  // Adagrad makes its state in the constructor only.
  const torch::optim::Optimizer& inner = *inner_;
  if (typeid(inner) != typeid(torch::optim::Adagrad)) return;
  const auto& options = static_cast<const torch::optim::AdagradOptions&>(
      inner_->param_groups().back().options());
  for (const at::Tensor& tensor : tensors) {
    auto state = std::make_unique<torch::optim::AdagradParamState>();
    state->sum(
        at::full_like(tensor.detach(), options.initial_accumulator_value()));
    inner_->state()[tensor.unsafeGetTensorImpl()] = std::move(state);
  }
}

bool TorchOptimizer::element_wise() const {
  return TorchKindOf(*inner_).has_value();
}

void TorchOptimizer::ReplaceBySlices(const SlicesByWhole& slices) {
  const at::NoGradGuard no_gradients;
  const std::optional<Kind> kind = TorchKindOf(*inner_);
  auto& states = inner_->state();
  for (size_t group = 0; group < params_.size(); ++group) {
    auto& inner_group = inner_->param_groups()[group];
    for (at::Tensor& param : inner_group.params()) {
      const auto found = slices.find(param.unsafeGetTensorImpl());
      if (found == slices.end()) continue;
      const ParamSlice& item = *found->second;
      const auto state = states.find(param.unsafeGetTensorImpl());
      if (state != states.end()) {
        const TorchStateSlots slots =
            kind->slots(*state->second, inner_group.options());
        for (const TorchStateSlots::Slot& slot : slots.tensors) {
          if (!slot.tensor->defined()) continue;
          *slot.tensor =
              SliceOf(*slot.tensor, item.begin, item.slice.numel())
                  .to(item.slice.device(), slot.tensor->scalar_type(),
                      /*non_blocking=*/false, /*copy=*/true);
        }
        auto taken = std::move(state->second);
        states.erase(state);
        states[item.slice.unsafeGetTensorImpl()] = std::move(taken);
      }
      param = item.slice;
    }
    for (NamedTensor& param : params_[group]) {
      const auto found = slices.find(param.tensor.unsafeGetTensorImpl());
      if (found != slices.end()) param.tensor = found->second->slice;
    }
  }
}

void TorchOptimizer::Step(const std::optional<at::Tensor>& divisor) {
  if (divisor) {
    const std::vector<at::Tensor>& gradients = Gradients();
    if (!gradients.empty()) at::_foreach_div_(gradients, *divisor);
  }
  for (size_t group = 0; group < num_groups(); ++group) {
    OptimizerOptions& options = inner_->param_groups()[group].options();
    const double* value = fields(group);
    for (const TorchOptionField& field : TorchFieldsOf(options))
      field.Set(*value++);
  }
  inner_->step();
}

std::vector<NamedTensor> TorchOptimizer::NamedTensors() const {
  const std::optional<Kind> kind = TorchKindOf(*inner_);
  if (!kind) return ArchiveState();
  std::vector<NamedTensor> state;
  for (size_t group = 0; group < params_.size(); ++group) {
    const OptimizerOptions& options = inner_->param_groups()[group].options();
    for (const NamedTensor& param : params_[group]) {
      const auto found =
          inner_->state().find(param.tensor.unsafeGetTensorImpl());
      const bool made = found != inner_->state().end();
      state.push_back({param.name + "/" + kMade, Count(made ? 1 : 0)});
      if (!made) continue;
      const TorchStateSlots slots = kind->slots(*found->second, options);
      if (slots.step != nullptr)
        state.push_back({param.name + "/step", Count(*slots.step)});
      for (const TorchStateSlots::Slot& slot : slots.tensors) {
        if (slot.tensor->defined())
          state.push_back({param.name + "/" + slot.name, *slot.tensor});
      }
    }
  }
  SortByName(state);
  return state;
}

void TorchOptimizer::LoadTensors(const std::vector<NamedTensor>& tensors) {
  const std::optional<Kind> kind = TorchKindOf(*inner_);
  if (!kind) return LoadArchive(tensors);
  const at::NoGradGuard no_gradients;
  Given given(CutToSlices(tensors));
  std::vector<std::pair<void*, std::unique_ptr<OptimizerParamState>>> fitting;
  for (size_t group = 0; group < params_.size(); ++group) {
    const OptimizerOptions& options = inner_->param_groups()[group].options();
    for (const NamedTensor& param : params_[group]) {
      const size_t before = given.problems();
      auto taken = TakeState(*kind, param, options, given);
      if (given.problems() > before) continue;
      fitting.emplace_back(param.tensor.unsafeGetTensorImpl(),
                           std::move(taken));
    }
  }
  const TensorDifferences differences = given.Finish();
  TORCH_CHECK_VALUE(differences.none(), name(),
                    ": the saved tensors do not fit:\n", Describe(differences));
  for (auto& [key, taken] : fitting) {
    if (taken == nullptr) {
      inner_->state().erase(key);
    } else {
      inner_->state()[key] = std::move(taken);
    }
  }
}

std::vector<NamedTensor> TorchOptimizer::ArchiveState() const {
  std::string bytes;
  try {
    torch::serialize::OutputArchive archive;
    inner_->save(archive);
    archive.save_to([&](const void* data, size_t size) {
      bytes.append(static_cast<const char*>(data), size);
      return size;
    });
  } catch (const c10::Error& error) {
    TORCH_CHECK_VALUE(false, name(),
                      ": save failed: ", error.what_without_backtrace());
  }
  torch::serialize::InputArchive written;
  written.load_from(bytes.data(), bytes.size());
  TORCH_CHECK_VALUE(
      inner_->state().empty() || !written.keys().empty(), name(),
      ": its state cannot be saved, because the class does not override save "
      "and load of torch::optim::Optimizer; override both, as "
      "torch::optim::SGD does");
  return {
      {kArchive, at::from_blob(bytes.data(),
                               {static_cast<int64_t>(bytes.size())}, at::kByte)
                     .clone()}};
}

void TorchOptimizer::LoadArchive(const std::vector<NamedTensor>& tensors) {
  TensorDifferences differences;
  at::Tensor bytes;
  for (const NamedTensor& item : tensors) {
    if (item.name == kArchive) {
      bytes = item.tensor.to(at::kCPU, at::kByte).contiguous();
    } else {
      differences.unexpected.push_back(item.name);
    }
  }
  if (!bytes.defined()) differences.missing.push_back(kArchive);
  TORCH_CHECK_VALUE(differences.none(), name(),
                    ": the saved tensors do not fit:\n", Describe(differences));
  // load would replace them.
  std::vector<std::unique_ptr<OptimizerOptions>> options;
  for (const auto& group : inner_->param_groups())
    options.push_back(group.options().clone());
  auto before = std::exchange(inner_->state(), {});
  try {
    torch::serialize::InputArchive archive;
    archive.load_from(static_cast<const char*>(bytes.const_data_ptr()),
                      static_cast<size_t>(bytes.numel()));
    inner_->load(archive);
  } catch (const c10::Error& error) {
    inner_->state() = std::move(before);
    TORCH_CHECK_VALUE(false, name(), ": the state does not fit: ",
                      error.what_without_backtrace());
  }
  for (size_t i = 0; i < options.size(); ++i)
    inner_->param_groups()[i].set_options(std::move(options[i]));
}

}  // namespace trainyard

#include "trainer/optim/list_optimizer.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sub.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <utility>

#include "trainer/model/tensor_slice.h"

namespace trainyard {
namespace {

void Select(const std::vector<at::Tensor>& from,
            const std::vector<size_t>& indices, std::vector<at::Tensor>& to) {
  if (from.empty()) return;
  to.reserve(indices.size());
  for (const size_t i : indices) to.push_back(from[i]);
}

}  // namespace

ListOptimizer::ListOptimizer(const std::string& name, const ParamGroups& groups,
                             const std::vector<FieldSpec>& fields,
                             Kernel kernel)
    : Optimizer(name, groups, fields), kernel_(kernel) {
  for (size_t group = 0; group < num_groups(); ++group) {
    AddLists(group, groups.groups()[group].params);
  }
}

void ListOptimizer::AddLists(size_t group,
                             const std::vector<NamedTensor>& params) {
  for (const NamedTensor& param : params) {
    TORCH_CHECK_VALUE(kernel_ != Kernel::kFused ||
                          param.tensor.is_non_overlapping_and_dense(),
                      name(), ": parameter \"", param.name,
                      "\" has gaps in memory (strides ", param.tensor.strides(),
                      "); make it contiguous before training it");
  }
  // Kernels need lists of one device and one type.
  std::map<std::pair<std::string, at::ScalarType>, size_t> index;
  for (const NamedTensor& param : params) {
    const auto [at, is_new] = index.try_emplace(
        {param.tensor.device().str(), param.tensor.scalar_type()},
        lists_.size());
    if (is_new) {
      lists_.emplace_back().fields = Optimizer::fields(group);
      lists_.back().initial = initial_fields(group);
      param_names_.emplace_back();
    }
    lists_[at->second].params.push_back(param.tensor);
    lists_[at->second].grads.emplace_back();
    param_names_[at->second].push_back(param.name);
  }
}

void ListOptimizer::GroupAdded(const ParamGroup& group) {
  AddLists(num_groups() - 1, group.params);
}

void ListOptimizer::MakeMissingState() const {
  for (Lists& lists : lists_) {
    while (lists.state.size() < make_state_.size()) {
      FillState(lists, make_state_[lists.state.size()]);
    }
    if (counter_ && lists.steps.empty()) FillSteps(lists);
  }
}

void ListOptimizer::ReplaceBySlices(const SlicesByWhole& slices) {
  const at::NoGradGuard no_gradients;
  for (Lists& lists : lists_) {
    // A slot with an element per element of the parameter is cut as well.
    std::vector<bool> like_param;
    for (size_t slot = 0; slot < lists.state.size(); ++slot) {
      const at::Tensor probe = at::zeros({3}, lists.params.front().options());
      const at::Tensor made = make_state_[slot](lists, probe);
      like_param.push_back(made.defined() && made.sizes() == probe.sizes());
    }
    for (size_t i = 0; i < lists.params.size(); ++i) {
      const auto found = slices.find(lists.params[i].unsafeGetTensorImpl());
      if (found == slices.end()) continue;
      const ParamSlice& item = *found->second;
      const at::Device device = item.slice.device();
      lists.params[i] = item.slice;
      for (size_t slot = 0; slot < lists.state.size(); ++slot) {
        at::Tensor& state = lists.state[slot][i];
        if (!state.defined() || !like_param[slot]) continue;
        state = SliceOf(state, item.begin, item.slice.numel())
                    .to(device, state.scalar_type(), /*non_blocking=*/false,
                        /*copy=*/true);
      }
      if (!lists.steps.empty() && *counter_ == Counter::kDevice) {
        lists.steps[i] = lists.steps[i].to(device);
      }
    }
  }
}

void ListOptimizer::AddState(const std::string& name) {
  AddState(name, [](const Lists&, const at::Tensor& param) {
    return at::zeros_like(param);
  });
}

void ListOptimizer::AddState(const std::string& name, MakeState make) {
  state_names_.push_back(name);
  make_state_.push_back(std::move(make));
}

void ListOptimizer::FillState(Lists& lists, const MakeState& make) const {
  const at::NoGradGuard no_gradients;
  Tensors& added = lists.state.emplace_back();
  for (const at::Tensor& param : lists.params) {
    added.push_back(make(lists, param));
  }
}

void ListOptimizer::AddSteps(Counter where) { counter_ = where; }

void ListOptimizer::FillSteps(Lists& lists) const {
  for (const at::Tensor& param : lists.params) {
    const auto options = param.options().dtype(at::kFloat);
    lists.steps.push_back(at::zeros(
        {}, *counter_ == Counter::kHost ? options.device(at::kCPU) : options));
  }
}

// A model may move to another device after its optimizer was made.
void ListOptimizer::FollowParameters(Lists& lists) const {
  const at::Device device = lists.params.front().device();
  const auto move = [&](Tensors& tensors) {
    for (at::Tensor& tensor : tensors) {
      if (tensor.defined()) tensor = tensor.to(device);
    }
  };
  for (Tensors& state : lists.state) {
    if (state.front().defined() && state.front().device() == device) return;
    move(state);
  }
  if (counter_ == Counter::kDevice) move(lists.steps);
}

void ListOptimizer::KeepRatesOnDevice(bool keep) {
  TORCH_CHECK_VALUE(capturable() || !keep, name(),
                    ": its updates cannot be captured");
  rates_on_device_ = keep;
  if (keep) return CopyRates();
  for (Lists& lists : lists_) {
    lists.rate.reset();
    lists.copied_rate.reset();
  }
}

void ListOptimizer::CopyRates() {
  const at::AutoDispatchBelowAutograd no_autograd;
  for (Lists& lists : lists_) {
    const at::Device device = lists.params.front().device();
    if (!lists.rate.defined() || lists.rate.device() != device) {
      lists.rate = at::empty({}, at::TensorOptions(device).dtype(at::kFloat));
      lists.copied_rate.reset();
    }
    if (lists.copied_rate == lists.fields[0]) continue;
    lists.rate.fill_(lists.fields[0]);
    lists.copied_rate = lists.fields[0];
  }
}

bool ListOptimizer::IsRecorded(const Lists& lists) {
  if (!lists.rate.defined()) return false;
  const c10::impl::VirtualGuardImpl guard(lists.rate.device().type());
  return guard.isStreamCapturing(guard.getStream(lists.rate.device()));
}

void ListOptimizer::PrepareReplay() {
  CopyRates();
  for (const at::Tensor& step : recorded_steps_) HostScalar(step) += 1;
}

void ListOptimizer::Step(const std::optional<at::Tensor>& divisor) {
  // Nothing here is differentiated, so skip the autograd layer of all
  // operations.
  const at::AutoDispatchBelowAutograd no_autograd;
  raised_.clear();
  MakeMissingState();
  if (rates_on_device_) {
    const bool recorded = !lists_.empty() && IsRecorded(lists_.front());
    // In the graph the number of now would stay.
    if (!recorded) CopyRates();
    if (recorded) recorded_steps_.clear();
  }
  for (Lists& lists : lists_) {
    FollowParameters(lists);
    if (Collect(lists)) {
      Run(lists, divisor);
    } else {
      for (const std::vector<size_t>& part : Parts(lists)) {
        Lists some;
        some.fields = lists.fields;
        some.initial = lists.initial;
        some.rate = lists.rate;
        Select(lists.params, part, some.params);
        Select(lists.grads, part, some.grads);
        Select(lists.steps, part, some.steps);
        for (const Tensors& state : lists.state) {
          Select(state, part, some.state.emplace_back());
        }
        Run(some, divisor);
      }
    }
    // Do not keep gradients alive: ZeroGrad must free their memory.
    lists.grads.assign(lists.params.size(), at::Tensor());
  }
}

// Collects the gradients. Returns true if all exist and all counters are equal.
bool ListOptimizer::Collect(Lists& lists) const {
  bool complete = true;
  for (size_t i = 0; i < lists.params.size(); ++i) {
    const at::Tensor& param = lists.params[i];
    at::Tensor& grad = lists.grads[i];
    grad = param.grad();
    if (!grad.defined()) {
      complete = false;
    } else if (kernel_ == Kernel::kFused &&
               !grad.strides().equals(param.strides())) {
      grad = at::empty_like(param).copy_(grad);
    }
  }
  if (!complete || lists.steps.empty() || !lists.steps[0].is_cpu()) {
    return complete;
  }
  const float first = HostScalar(lists.steps[0]);
  return std::all_of(
      lists.steps.begin(), lists.steps.end(),
      [first](const at::Tensor& step) { return HostScalar(step) == first; });
}

// The indices of the parameters with gradients, grouped by their counters.
std::vector<std::vector<size_t>> ListOptimizer::Parts(
    const Lists& lists) const {
  std::map<float, std::vector<size_t>> parts;
  for (size_t i = 0; i < lists.params.size(); ++i) {
    if (!lists.grads[i].defined()) continue;
    const bool on_host = !lists.steps.empty() && lists.steps[i].is_cpu();
    parts[on_host ? HostScalar(lists.steps[i]) : 0].push_back(i);
  }
  std::vector<std::vector<size_t>> indices;
  for (auto& [step, part] : parts) indices.push_back(std::move(part));
  return indices;
}

void ListOptimizer::Run(Lists& lists,
                        const std::optional<at::Tensor>& divisor) {
  if (kernel_ == Kernel::kFused) {
    lists.divisor = divisor;
    lists.skip = skip().defined() ? std::optional(skip()) : std::nullopt;
  } else if (divisor) {
    at::_foreach_div_(lists.grads, *divisor);
  }
  if (!lists.steps.empty()) {
    if (lists.steps[0].is_cpu()) {
      // A kernel call per counter would take as long as the update of a small
      // model, so write directly.
      lists.step = HostScalar(lists.steps[0]) + 1;
      if (IsRecorded(lists)) {
        TORCH_CHECK_VALUE(lists.step > 1, name(),
                          ": the first update of a parameter cannot be "
                          "captured: it differs from the others");
        recorded_steps_.insert(recorded_steps_.end(), lists.steps.begin(),
                               lists.steps.end());
      } else {
        for (const at::Tensor& step : lists.steps) HostScalar(step) += 1;
        if (lists.skip) {
          raised_.insert(raised_.end(), lists.steps.begin(), lists.steps.end());
        }
      }
    } else {
      at::_foreach_add_(lists.steps, 1);
      if (lists.skip) {
        at::_foreach_sub_(lists.steps,
                          Tensors(lists.steps.size(), *lists.skip));
      }
    }
  }
  Update(lists);
}

void ListOptimizer::TakeBackStep() {
  for (const at::Tensor& step : std::exchange(raised_, {})) {
    HostScalar(step) -= 1;
  }
}

void ListOptimizer::Decay(Lists& lists, double lr, double weight_decay,
                          bool decoupled) {
  if (!decoupled) {
    DecayIntoGradients(lists, weight_decay);
  } else if (weight_decay != 0) {
    at::_foreach_mul_(lists.params, 1 - lr * weight_decay);
  }
}

void ListOptimizer::DecayIntoGradients(Lists& lists, double weight_decay) {
  if (weight_decay == 0) return;
  lists.grads = at::_foreach_add(lists.grads, lists.params, weight_decay);
}

void ListOptimizer::UpdateAverages(const Tensors& grads, const Tensors& means,
                                   const Tensors& squares, double beta1,
                                   double beta2) {
  at::_foreach_lerp_(means, grads, 1 - beta1);
  at::_foreach_mul_(squares, beta2);
  at::_foreach_addcmul_(squares, grads, grads, 1 - beta2);
}

std::vector<NamedTensor> ListOptimizer::NamedTensors() const {
  MakeMissingState();
  std::vector<NamedTensor> named;
  for (size_t list = 0; list < lists_.size(); ++list) {
    const Lists& lists = lists_[list];
    for (size_t i = 0; i < lists.params.size(); ++i) {
      const std::string& param = param_names_[list][i];
      for (size_t slot = 0; slot < lists.state.size(); ++slot) {
        const at::Tensor& tensor = lists.state[slot][i];
        if (tensor.defined()) {
          named.push_back({param + "/" + state_names_[slot], tensor});
        }
      }
      if (!lists.steps.empty()) {
        named.push_back({param + "/step", lists.steps[i]});
      }
    }
  }
  SortByName(named);
  return named;
}

}  // namespace trainyard

#include "finetuning/model_average.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>
#include <c10/util/Exception.h>
#include <torch/nn/module.h>

#include <utility>

#include "finetuning/average_host.h"
#include "trainer/model/model.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

constexpr char kAveragePrefix[] = "average/";

}  // namespace

AveragedTensors::AveragedTensors(const torch::nn::Module& model) {
  for (const auto& item : model.named_parameters()) {
    tensors.push_back({item.key(), item.value()});
  }
  for (const auto& item : model.named_buffers()) {
    tensors.push_back({item.key(), item.value()});
  }
}

AveragedTensors::AveragedTensors(const Model& model)
    : tensors(model.Parameters()) {
  for (NamedTensor& item : model.Buffers()) tensors.push_back(std::move(item));
}

ModelAverage::ModelAverage(std::string name, const AveragedTensors& model,
                           std::optional<at::Device> device)
    : name_(std::move(name)), device_(device) {
  for (const NamedTensor& item : model.tensors) {
    names_.push_back(item.name);
    // Not detached: a model that moves to another device moves this tensor.
    model_.push_back(item.tensor);
    average_.push_back(item.tensor.detach().to(
        device.value_or(item.tensor.device()), item.tensor.scalar_type(),
        /*non_blocking=*/false, /*copy=*/true));
    const bool averaged =
        item.tensor.is_floating_point() || item.tensor.is_complex();
    (averaged ? model_floats_ : model_others_).push_back(model_.back());
    (averaged ? average_floats_ : average_others_).push_back(average_.back());
  }
  TORCH_CHECK_VALUE(!model_.empty(), name_, ": the model has no parameters");
}

void ModelAverage::CheckNotSwapped(const char* what) const {
  TORCH_CHECK(!swapped_, name_, ": ", what,
              " while the model holds the averages");
}

int64_t ModelAverage::CountUpdate() {
  CheckNotSwapped("cannot be updated");
  return ++updates_;
}

// Moves the averages if the model was moved to another device or type.
void ModelAverage::Follow() {
  if (average_[0].device() == device_.value_or(model_[0].device()) &&
      average_[0].scalar_type() == model_[0].scalar_type()) {
    return;
  }
  for (size_t i = 0; i < model_.size(); ++i) {
    average_[i].set_data(average_[i].to(device_.value_or(model_[i].device()),
                                        model_[i].scalar_type()));
  }
}

void ModelAverage::MoveTowardsModel(double weight) {
  Follow();
  // Nothing here is differentiated: skip autograd's dispatch.
  const at::AutoDispatchBelowAutograd no_autograd;
  std::vector<at::Tensor> averages, models;
  for (size_t i = 0; i < model_floats_.size(); ++i) {
    if (CanMoveOnHost(average_floats_[i], model_floats_[i])) {
      MoveOnHost(average_floats_[i], model_floats_[i], weight);
    } else {
      averages.push_back(average_floats_[i]);
      models.push_back(model_floats_[i].to(averages.back().device()));
    }
  }
  if (!averages.empty()) at::_foreach_lerp_(averages, models, weight);
  if (!model_others_.empty()) {
    at::_foreach_copy_(average_others_, model_others_);
  }
}

void ModelAverage::Reset() {
  CheckNotSwapped("cannot be reset");
  const at::NoGradGuard no_gradients;
  Follow();
  at::_foreach_copy_(average_, model_);
  updates_ = 0;
}

std::vector<NamedTensor> ModelAverage::NamedTensors() const {
  std::vector<NamedTensor> state;
  for (size_t i = 0; i < names_.size(); ++i) {
    state.push_back({names_[i], average_[i]});
  }
  SortByName(state);
  return state;
}

State ModelAverage::SaveState() const {
  CheckNotSwapped("cannot be saved");
  trainyard::State state;
  state.Set("updates", updates_);
  for (size_t i = 0; i < names_.size(); ++i) {
    SetTensor(state, kAveragePrefix + names_[i], average_[i]);
  }
  return state;
}

void ModelAverage::LoadState(const trainyard::State& state) {
  CheckNotSwapped("cannot be loaded");
  state.CheckVersion(1);
  const auto updates = state.Get<int64_t>("updates");
  for (size_t i = 0; i < names_.size(); ++i) {
    const at::Tensor& given = GetTensor(state, kAveragePrefix + names_[i]);
    TORCH_CHECK_VALUE(given.sizes() == average_[i].sizes(), name_,
                      ": the average of \"", names_[i], "\" is of shape ",
                      given.sizes(), "; the model's is ", average_[i].sizes());
  }
  TORCH_CHECK_VALUE(state.values().size() == names_.size() + 1, name_,
                    ": the state has averages of ", state.values().size() - 1,
                    " tensors; the model has ", names_.size());
  const at::NoGradGuard no_gradients;
  for (size_t i = 0; i < names_.size(); ++i) {
    average_[i].copy_(GetTensor(state, kAveragePrefix + names_[i]));
  }
  updates_ = updates;
}

void ModelAverage::Exchange() {
  // Exchanges values, not tensors, so that references to the model's tensors
  // stay valid; one tensor at a time, so that only the largest one is copied.
  const at::NoGradGuard no_gradients;
  for (size_t i = 0; i < model_.size(); ++i) {
    const at::Tensor kept = model_[i].clone();
    model_[i].copy_(average_[i]);
    average_[i].copy_(kept);
  }
  swapped_ = !swapped_;
}

ModelAverage::Swap::Swap(ModelAverage& average) : average_(average) {
  TORCH_CHECK(!average.swapped_, average.name_, ": another Swap exists");
  average_.Exchange();
}

ModelAverage::Swap::~Swap() { average_.Exchange(); }

}  // namespace trainyard

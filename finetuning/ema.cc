#include "finetuning/ema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>
#include <c10/util/Exception.h>
#include <torch/nn/module.h>

#include <algorithm>

namespace trainyard {

Ema::Ema(const torch::nn::Module& model, const EmaDecayOptions& options)
    : decay_(options) {
  const auto add = [&](const std::string& name, const at::Tensor& value) {
    names_.push_back(name);
    model_.push_back(value.detach());  // the same memory, without history
    average_.push_back(value.detach().clone());
    const bool averaged = value.is_floating_point() || value.is_complex();
    (averaged ? model_floats_ : model_others_).push_back(model_.back());
    (averaged ? average_floats_ : average_others_).push_back(average_.back());
  };
  for (const auto& item : model.named_parameters())
    add(item.key(), item.value());
  for (const auto& item : model.named_buffers()) add(item.key(), item.value());
  TORCH_CHECK_VALUE(!model_.empty(), "Ema: the model has no parameters");
}

void Ema::Update() {
  TORCH_CHECK(!swapped_, "Ema: updated while the model holds the averages");
  const at::NoGradGuard no_gradients;
  const double weight = 1 - decay_.At(++updates_);
  if (!model_floats_.empty()) {
    at::_foreach_lerp_(average_floats_, model_floats_, weight);
  }
  if (!model_others_.empty()) {
    at::_foreach_copy_(average_others_, model_others_);
  }
}

void Ema::Reset() {
  TORCH_CHECK(!swapped_, "Ema: reset while the model holds the averages");
  const at::NoGradGuard no_gradients;
  at::_foreach_copy_(average_, model_);
  updates_ = 0;
}

std::vector<NamedTensor> Ema::State() const {
  std::vector<NamedTensor> state;
  for (size_t i = 0; i < names_.size(); ++i) {
    state.push_back({names_[i], average_[i]});
  }
  SortByName(state);
  return state;
}

void Ema::Exchange() {
  // By value, one tensor at a time: nobody's view of the model goes stale, and
  // the most it needs is the largest tensor once more.
  const at::NoGradGuard no_gradients;
  for (size_t i = 0; i < model_.size(); ++i) {
    const at::Tensor kept = model_[i].clone();
    model_[i].copy_(average_[i]);
    average_[i].copy_(kept);
  }
  swapped_ = !swapped_;
}

Ema::Swap::Swap(Ema& ema) : ema_(ema) {
  TORCH_CHECK(!ema.swapped_, "Ema: the model holds the averages already");
  ema_.Exchange();
}

Ema::Swap::~Swap() { ema_.Exchange(); }

}  // namespace trainyard

#include "trainer/optim/torch_optimizer_kinds.h"

#include <c10/util/Exception.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <tuple>
#include <typeinfo>

namespace trainyard {
namespace {

using torch::optim::OptimizerOptions;
using torch::optim::OptimizerParamState;

template <class Options>
std::vector<TorchOptionField> AdamFields(Options& options) {
  return {{"lr", &options, &options.lr()},
          {"beta1", &options, &std::get<0>(options.betas())},
          {"beta2", &options, &std::get<1>(options.betas())},
          {"eps", &options, &options.eps()},
          {"weight_decay", &options, &options.weight_decay()}};
}

bool HasLr(const OptimizerOptions& options) {
  try {
    options.get_lr();
    return true;
  } catch (const c10::Error&) {  // the class does not implement it
    return false;
  }
}

template <class ParamState>
std::unique_ptr<OptimizerParamState> MakeState() {
  return std::make_unique<ParamState>();
}

TorchStateSlots SgdSlots(OptimizerParamState& state, const OptimizerOptions&) {
  auto& sgd = static_cast<torch::optim::SGDParamState&>(state);
  return {.tensors = {{"momentum_buffer", &sgd.momentum_buffer()}}};
}

template <class ParamState, class Options>
TorchStateSlots AdamSlots(OptimizerParamState& state,
                          const OptimizerOptions& options) {
  auto& adam = static_cast<ParamState&>(state);
  const bool amsgrad = static_cast<const Options&>(options).amsgrad();
  return {.step = &adam.step(),
          .tensors = {{"exp_avg", &adam.exp_avg()},
                      {"exp_avg_sq", &adam.exp_avg_sq()},
                      {"max_exp_avg_sq", &adam.max_exp_avg_sq(), amsgrad}}};
}

TorchStateSlots RmspropSlots(OptimizerParamState& state,
                             const OptimizerOptions& options) {
  auto& rmsprop = static_cast<torch::optim::RMSpropParamState&>(state);
  const auto& its = static_cast<const torch::optim::RMSpropOptions&>(options);
  return {.step = &rmsprop.step(),
          .tensors = {{"square_avg", &rmsprop.square_avg()},
                      {"momentum_buffer", &rmsprop.momentum_buffer(),
                       its.momentum() > 0},
                      {"grad_avg", &rmsprop.grad_avg(), its.centered()}}};
}

TorchStateSlots AdagradSlots(OptimizerParamState& state,
                             const OptimizerOptions&) {
  auto& adagrad = static_cast<torch::optim::AdagradParamState&>(state);
  return {.step = &adagrad.step(), .tensors = {{"sum", &adagrad.sum()}}};
}

}  // namespace

double TorchOptionField::Get() const {
  return value != nullptr ? *value : options->get_lr();
}

void TorchOptionField::Set(double number) const {
  if (value != nullptr) {
    *value = number;
  } else {
    options->set_lr(number);
  }
}

std::vector<TorchOptionField> TorchFieldsOf(OptimizerOptions& options) {
  if (auto* sgd = dynamic_cast<torch::optim::SGDOptions*>(&options)) {
    return {{"lr", &options, &sgd->lr()},
            {"momentum", &options, &sgd->momentum()},
            {"dampening", &options, &sgd->dampening()},
            {"weight_decay", &options, &sgd->weight_decay()}};
  }
  if (auto* adam = dynamic_cast<torch::optim::AdamOptions*>(&options))
    return AdamFields(*adam);
  if (auto* adamw = dynamic_cast<torch::optim::AdamWOptions*>(&options))
    return AdamFields(*adamw);
  if (auto* rmsprop = dynamic_cast<torch::optim::RMSpropOptions*>(&options)) {
    return {{"lr", &options, &rmsprop->lr()},
            {"alpha", &options, &rmsprop->alpha()},
            {"eps", &options, &rmsprop->eps()},
            {"weight_decay", &options, &rmsprop->weight_decay()},
            {"momentum", &options, &rmsprop->momentum()}};
  }
  if (auto* adagrad = dynamic_cast<torch::optim::AdagradOptions*>(&options)) {
    return {{"lr", &options, &adagrad->lr()},
            {"lr_decay", &options, &adagrad->lr_decay()},
            {"weight_decay", &options, &adagrad->weight_decay()},
            {"eps", &options, &adagrad->eps()}};
  }
  if (HasLr(options)) return {{"lr", &options, nullptr}};
  return {};
}

std::optional<TorchOptimizerKind> TorchKindOf(
    const torch::optim::Optimizer& optimizer) {
  namespace optim = torch::optim;
  const std::type_info& type = typeid(optimizer);
  if (type == typeid(optim::SGD))
    return TorchOptimizerKind{MakeState<optim::SGDParamState>, SgdSlots};
  if (type == typeid(optim::Adam)) {
    return TorchOptimizerKind{
        MakeState<optim::AdamParamState>,
        AdamSlots<optim::AdamParamState, optim::AdamOptions>};
  }
  if (type == typeid(optim::AdamW)) {
    return TorchOptimizerKind{
        MakeState<optim::AdamWParamState>,
        AdamSlots<optim::AdamWParamState, optim::AdamWOptions>};
  }
  if (type == typeid(optim::RMSprop))
    return TorchOptimizerKind{MakeState<optim::RMSpropParamState>,
                              RmspropSlots};
  if (type == typeid(optim::Adagrad))
    return TorchOptimizerKind{MakeState<optim::AdagradParamState>,
                              AdagradSlots};
  return std::nullopt;
}

}  // namespace trainyard

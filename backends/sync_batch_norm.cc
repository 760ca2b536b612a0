#include "backends/sync_batch_norm.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>

#include <optional>
#include <string>
#include <vector>

namespace trainyard {
namespace {

using torch::nn::Module;

// A BatchNorm's replacement; empty if the module is none.
template <class BatchNorm>
SyncBatchNorm Replacement(const Module& module) {
  const auto* const norm = dynamic_cast<const BatchNorm*>(&module);
  if (norm == nullptr) return nullptr;
  SyncBatchNorm sync(norm->options,
                     BatchNormTensors{.weight = norm->weight,
                                      .bias = norm->bias,
                                      .running_mean = norm->running_mean,
                                      .running_var = norm->running_var},
                     norm->num_batches_tracked);
  sync->train(norm->is_training());
  return sync;
}

SyncBatchNorm AnyReplacement(const Module& module) {
  SyncBatchNorm sync = Replacement<torch::nn::BatchNorm2dImpl>(module);
  if (sync.is_empty()) {
    sync = Replacement<torch::nn::BatchNorm1dImpl>(module);
  }
  if (sync.is_empty()) {
    sync = Replacement<torch::nn::BatchNorm3dImpl>(module);
  }
  return sync;
}

// Where no replacement can be put.
void FindFixed(const Module& parent, const std::string& prefix,
               std::vector<std::string>& fixed) {
  const bool sequential =
      dynamic_cast<const torch::nn::SequentialImpl*>(&parent) != nullptr;
  for (const auto& child : parent.named_children()) {
    const std::string name = prefix + child.key();
    if (!sequential && !AnyReplacement(*child.value()).is_empty()) {
      fixed.push_back(name);
    }
    FindFixed(*child.value(), name + ".", fixed);
  }
}

void Replace(torch::nn::SequentialImpl& parent) {
  const auto children = parent.named_children();
  auto place = parent.begin();
  for (const auto& child : children) {
    if (SyncBatchNorm sync = AnyReplacement(*child.value()); !sync.is_empty()) {
      parent.replace_module(child.key(), sync.ptr());
      *place = torch::nn::AnyModule(sync);
    }
    ++place;
  }
}

}  // namespace

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& options)
    : SyncBatchNormImpl(
          options,
          {.weight = options.affine()
                         ? at::ones({options.num_features()}).requires_grad_()
                         : at::Tensor(),
           .bias = options.affine()
                       ? at::zeros({options.num_features()}).requires_grad_()
                       : at::Tensor(),
           .running_mean = options.track_running_stats()
                               ? at::zeros({options.num_features()})
                               : at::Tensor(),
           .running_var = options.track_running_stats()
                              ? at::ones({options.num_features()})
                              : at::Tensor()},
          options.track_running_stats() ? at::zeros({}, at::kLong)
                                        : at::Tensor()) {}

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& options,
                                     const BatchNormTensors& tensors,
                                     const at::Tensor& num_batches_tracked)
    : Module("SyncBatchNorm"), options_(options) {
  const auto parameter = [&](const char* name, const at::Tensor& tensor) {
    return register_parameter(name, tensor,
                              tensor.defined() && tensor.requires_grad());
  };
  tensors_ = {
      .weight = parameter("weight", tensors.weight),
      .bias = parameter("bias", tensors.bias),
      .running_mean = register_buffer("running_mean", tensors.running_mean),
      .running_var = register_buffer("running_var", tensors.running_var),
      .eps = options.eps()};
  num_batches_tracked_ =
      register_buffer("num_batches_tracked", num_batches_tracked);
}

at::Tensor SyncBatchNormImpl::forward(const at::Tensor& input) {
  TORCH_CHECK_VALUE(
      input.dim() >= 2 && input.size(1) == options_.num_features(),
      "SyncBatchNorm: the input has shape ", input.sizes(), ", not N x ",
      options_.num_features(), " x ...");
  const bool tracks = options_.track_running_stats();
  const bool own_moments = is_training() || !tracks;
  if (is_training() && tracks) {
    num_batches_tracked_ += 1;
    // Without a momentum: the mean of all batches so far.
    tensors_.momentum = options_.momentum().has_value()
                            ? *options_.momentum()
                            : 1.0 / num_batches_tracked_.item<double>();
  }
  if (is_training() && collectives_ != nullptr &&
      collectives_->num_processes() > 1) {
    return SyncBatchNormalize(input, tensors_, *collectives_);
  }
  return at::batch_norm(input, tensors_.weight, tensors_.bias,
                        tensors_.running_mean, tensors_.running_var,
                        own_moments, tensors_.momentum, tensors_.eps,
                        /*cudnn_enabled=*/true);
}

void UseSyncBatchNorm(Module& model, Collectives& collectives) {
  TORCH_CHECK_VALUE(AnyReplacement(model).is_empty(),
                    "UseSyncBatchNorm: the model itself is a BatchNorm");
  std::vector<std::string> fixed;
  FindFixed(model, "", fixed);
  TORCH_CHECK_VALUE(fixed.empty(),
                    "UseSyncBatchNorm: these BatchNorms are members of their "
                    "modules; declare them as trainyard::SyncBatchNorm: ",
                    c10::Join(", ", fixed));
  if (auto* const top = dynamic_cast<torch::nn::SequentialImpl*>(&model)) {
    Replace(*top);
  }
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* const each =
            dynamic_cast<torch::nn::SequentialImpl*>(module.get())) {
      Replace(*each);
    }
  }
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* const sync = dynamic_cast<SyncBatchNormImpl*>(module.get())) {
      sync->Use(&collectives);
    }
  }
  if (auto* const self = dynamic_cast<SyncBatchNormImpl*>(&model)) {
    self->Use(&collectives);
  }
}

}  // namespace trainyard

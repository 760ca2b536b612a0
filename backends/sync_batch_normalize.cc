#include "backends/sync_batch_normalize.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

namespace trainyard {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// Every dimension but the channels'.
std::vector<int64_t> RecordDims(const at::Tensor& input) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < input.dim(); ++i) {
    if (i != 1) dims.push_back(i);
  }
  return dims;
}

// One number per channel, in the shape that goes with the input.
at::Tensor PerChannel(const at::Tensor& values, const at::Tensor& input) {
  std::vector<int64_t> sizes(input.dim(), 1);
  sizes[1] = -1;
  return values.reshape(sizes);
}

struct Moments {
  at::Tensor mean;
  at::Tensor variance;  // the biased one
  double count = 0;
};

// Of all processes: each one's mean, sum of squared deviations and count, put
// together without ever adding up squares.
Moments AllMoments(const at::Tensor& input, Collectives& collectives) {
  const std::vector<int64_t> dims = RecordDims(input);
  const int64_t channels = input.size(1);
  const int64_t own_count = input.numel() / std::max<int64_t>(channels, 1);
  at::Tensor own_mean = at::zeros({channels}, input.options());
  at::Tensor own_deviation = at::zeros({channels}, input.options());
  if (own_count > 0) {
    own_mean = input.mean(dims);
    own_deviation = input.sub(PerChannel(own_mean, input)).square().sum(dims);
  }
  const at::Tensor counts =
      at::full({channels}, static_cast<double>(own_count), input.options());
  const at::Tensor all = at::stack(collectives.AllGather(
      at::stack({own_mean, own_deviation, counts})));  // ranks x 3 x channels
  const at::Tensor weights = all.select(1, 2);
  const at::Tensor count = weights.sum(0);
  const at::Tensor mean = all.select(1, 0).mul(weights).sum(0).div(count);
  const at::Tensor between =
      all.select(1, 0).sub(mean).square().mul(weights).sum(0);
  return {mean, all.select(1, 1).sum(0).add(between).div(count),
          channels == 0 ? 0 : count[0].item<double>()};
}

// dx of y = (x - mean) / sqrt(variance + eps) * weight, mean and variance being
// functions of x too.
class Normalize : public torch::autograd::Function<Normalize> {
 public:
  static Variable forward(AutogradContext* context, const Variable& input,
                          const Variable& weight, const Variable& bias,
                          const at::Tensor& mean, const at::Tensor& inverse,
                          double count, int64_t collectives) {
    const at::Tensor hat =
        input.sub(PerChannel(mean, input)).mul_(PerChannel(inverse, input));
    context->save_for_backward({hat, weight, inverse});
    context->saved_data["count"] = count;
    context->saved_data["collectives"] = collectives;
    return hat.mul(PerChannel(weight, input)).add_(PerChannel(bias, input));
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& hat = saved[0];
    const at::Tensor& gradient = outputs[0];
    const std::vector<int64_t> dims = RecordDims(hat);
    const at::Tensor own =
        at::stack({gradient.sum(dims), gradient.mul(hat).sum(dims)});
    at::Tensor all = own.clone();
    auto* const collectives = reinterpret_cast<Collectives*>(
        context->saved_data["collectives"].toInt());
    collectives->AllReduce(all, ReduceOp::kSum);
    all.div_(context->saved_data["count"].toDouble());
    const at::Tensor to_input =
        gradient.sub(PerChannel(all[0], hat))
            .sub_(hat.mul(PerChannel(all[1], hat)))
            .mul_(PerChannel(saved[1].mul(saved[2]), hat));
    // Weight and bias have this process's own: ddp puts them together.
    return {to_input, own[1], own[0], {}, {}, {}, {}};
  }
};

void Track(const BatchNormTensors& tensors, const Moments& moments) {
  const at::NoGradGuard no_gradients;
  if (tensors.running_mean.defined()) {
    tensors.running_mean.lerp_(
        moments.mean.to(tensors.running_mean.scalar_type()), tensors.momentum);
  }
  if (tensors.running_var.defined()) {
    const at::Tensor unbiased =
        moments.variance.mul(moments.count / (moments.count - 1));
    tensors.running_var.lerp_(unbiased.to(tensors.running_var.scalar_type()),
                              tensors.momentum);
  }
}

}  // namespace

at::Tensor SyncBatchNormalize(const at::Tensor& input,
                              const BatchNormTensors& tensors,
                              Collectives& collectives) {
  TORCH_CHECK_VALUE(input.dim() >= 2, "SyncBatchNorm: the input has shape ",
                    input.sizes(), ", not N x C x ...");
  // Half precision is normalised in single.
  const at::ScalarType type =
      input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor x = input.to(type);
  const Moments moments = [&] {
    const at::NoGradGuard no_gradients;
    return AllMoments(x, collectives);
  }();
  TORCH_CHECK_VALUE(moments.count > 1,
                    "SyncBatchNorm: one value per channel, over all ",
                    "processes, has no variance");
  Track(tensors, moments);
  const at::Tensor inverse = moments.variance.add(tensors.eps).rsqrt();
  const auto or_constant = [&](const at::Tensor& tensor, double value) {
    return tensor.defined() ? tensor.to(type)
                            : at::full({x.size(1)}, value, x.options());
  };
  return Normalize::apply(x, or_constant(tensors.weight, 1),
                          or_constant(tensors.bias, 0), moments.mean, inverse,
                          moments.count,
                          reinterpret_cast<int64_t>(&collectives))
      .to(input.scalar_type());
}

}  // namespace trainyard

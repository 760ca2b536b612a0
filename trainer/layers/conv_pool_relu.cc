#include "trainer/layers/conv_pool_relu.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

#include "trainer/layers/conv_pool_host.h"
#include "trainer/layers/conv_pool_kernels.h"

namespace trainyard {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor ThreeOperations(const at::Tensor& input, const at::Tensor& weight,
                           const at::Tensor& bias) {
  return at::max_pool2d(at::conv2d(input, weight, bias, 1, 1), 2).relu_();
}

bool AreFloatsOnCpu(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided &&
         tensor.scalar_type() == at::kFloat;
}

// Also whether the arguments fit: the three operations say what does not.
bool KernelsApply(const at::Tensor& input, const at::Tensor& weight,
                  const at::Tensor& bias) {
  if (FastestConvPoolKernels() == nullptr || input.dim() != 4 ||
      !AreFloatsOnCpu(input) || !AreFloatsOnCpu(weight) ||
      at::autocast::is_autocast_enabled(at::kCPU)) {
    return false;
  }
  const int64_t channels = input.size(1), filters = weight.size(0);
  if (bias.defined() &&
      (!AreFloatsOnCpu(bias) || bias.sizes() != at::IntArrayRef{filters})) {
    return false;
  }
  return weight.sizes() == at::IntArrayRef{filters, channels, 3, 3} &&
         channels >= 1 && channels <= kConvPoolReluChannels && filters >= 1 &&
         filters <= kConvPoolReluChannels && input.size(0) >= 1 &&
         input.size(2) >= 2 && input.size(3) >= 2;
}

class OnePass : public torch::autograd::Function<OnePass> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight,
                            const std::optional<at::Tensor>& given_bias) {
    const at::Tensor bias = given_bias.value_or(at::Tensor());
    const ConvPoolHost host(*FastestConvPoolKernels(), input, weight);
    const ConvPooled pooled = host.Forward(bias, /*for_gradients=*/true);
    context->save_for_backward({input, weight, bias, pooled.chosen});
    return pooled.output;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &bias = saved[2];
    const ConvPoolWanted wanted{
        .input = context->needs_input_grad(0),
        .weight = context->needs_input_grad(1),
        .bias = bias.defined() && context->needs_input_grad(2)};
    if (at::GradMode::is_enabled()) {
      return Differentiable(saved, wanted, grads[0]);
    }
    const ConvPoolHost host(*FastestConvPoolKernels(), input, weight);
    const ConvPoolGrads result = host.Backward(saved[3], grads[0], wanted);
    return {result.input, result.weight, result.bias};
  }

 private:
  // Gradients that can be differentiated again.
  static variable_list Differentiable(const variable_list& saved,
                                      const ConvPoolWanted& wanted,
                                      const at::Tensor& grad) {
    const std::vector<bool> is_wanted = {wanted.input, wanted.weight,
                                         wanted.bias};
    variable_list inputs;
    for (size_t i = 0; i < is_wanted.size(); ++i) {
      if (is_wanted[i]) inputs.push_back(saved[i]);
    }
    const variable_list found = torch::autograd::grad(
        {ThreeOperations(saved[0], saved[1], saved[2])}, inputs, {grad},
        /*retain_graph=*/true, /*create_graph=*/true);
    variable_list result(is_wanted.size());
    for (size_t i = 0, next = 0; i < is_wanted.size(); ++i) {
      if (is_wanted[i]) result[i] = found[next++];
    }
    return result;
  }
};

}  // namespace

at::Tensor ConvPoolRelu(const at::Tensor& input, const at::Tensor& weight,
                        const at::Tensor& bias) {
  if (!KernelsApply(input, weight, bias)) {
    return ThreeOperations(input, weight, bias);
  }
  if (at::GradMode::is_enabled() &&
      (input.requires_grad() || weight.requires_grad() ||
       (bias.defined() && bias.requires_grad()))) {
    // Function takes no undefined tensor.
    return OnePass::apply(input, weight,
                          bias.defined() ? std::optional(bias) : std::nullopt);
  }
  return ConvPoolHost(*FastestConvPoolKernels(), input, weight)
      .Forward(bias, /*for_gradients=*/false)
      .output;
}

}  // namespace trainyard

#include "tools/examples/conv_net.h"

#include <torch/nn/functional/dropout.h>

#include "trainer/layers/conv_pool_relu.h"

namespace trainyard {

namespace F = torch::nn::functional;

ConvNetImpl::ConvNetImpl()
    : conv1_(register_module(
          "conv1",
          torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 3).padding(1)))),
      conv2_(register_module(
          "conv2",
          torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).padding(1)))),
      hidden_(register_module("hidden", torch::nn::Linear(32 * 7 * 7, 128))),
      output_(register_module("output", torch::nn::Linear(128, 10))) {}

torch::Tensor ConvNetImpl::forward(const torch::Tensor& images) {
  torch::Tensor x = ConvPoolRelu(images, conv1_->weight, conv1_->bias);
  x = ConvPoolRelu(x, conv2_->weight, conv2_->bias);
  x = hidden_->forward(x.flatten(1)).relu_();
  x = F::dropout(x, F::DropoutFuncOptions().p(0.25).training(is_training()));
  return output_->forward(x);
}

}  // namespace trainyard

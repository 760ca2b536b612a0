// A small convolutional network for 28 x 28 images of ten classes: about
// 215,000 parameters, an ordinary torch::nn module.
#ifndef TRAINYARD_TOOLS_EXAMPLES_CONV_NET_H_
#define TRAINYARD_TOOLS_EXAMPLES_CONV_NET_H_

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace trainyard {

class ConvNetImpl : public torch::nn::Module {
 public:
  ConvNetImpl();
  // N x 1 x 28 x 28 to N x 10.
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::nn::Conv2d conv1_, conv2_;
  torch::nn::Linear hidden_, output_;
};
TORCH_MODULE(ConvNet);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_CONV_NET_H_

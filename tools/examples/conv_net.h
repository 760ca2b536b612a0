// ConvNet is a small convolutional network for 28 x 28 images of ten classes,
// with about 215,000 parameters; an ordinary torch::nn module.
//
//   ConvNet model;
//   AdamW optimizer(*model, {.lr = 3e-3});
//
// Thread-compatible, as torch::nn modules are.
#ifndef TRAINYARD_TOOLS_EXAMPLES_CONV_NET_H_
#define TRAINYARD_TOOLS_EXAMPLES_CONV_NET_H_

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace trainyard {

class ConvNetImpl : public torch::nn::Module {
 public:
  ConvNetImpl();
  // From N x 1 x 28 x 28 images to N x 10 logits.
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::nn::Conv2d conv1_, conv2_;
  torch::nn::Linear hidden_, output_;
};
TORCH_MODULE(ConvNet);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_CONV_NET_H_

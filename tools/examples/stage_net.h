// StageNet is the network that tools/examples/finetune.py trains in Python, for
// 28 x 28 images: three stages of convolution, batch norm and pooling, and a
// head. An ordinary torch::nn module, with names of its own.
//
//   StageNet model(kClasses);
//   …
//   WarmStartOptions options{.rename = StageNetFromPython()};
//
// Thread-compatible, as torch::nn modules are.
#ifndef TRAINYARD_TOOLS_EXAMPLES_STAGE_NET_H_
#define TRAINYARD_TOOLS_EXAMPLES_STAGE_NET_H_

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "finetuning/warm_start/rename_rules.h"

namespace trainyard {

// Convolution, batch norm and pooling; halves height and width.
class StageImpl : public torch::nn::Module {
 public:
  StageImpl(int64_t inputs, int64_t outputs);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d conv_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(Stage);

class StageNetImpl : public torch::nn::Module {
 public:
  explicit StageNetImpl(int64_t classes);
  // From N x 1 x 28 x 28 images to N x classes logits.
  torch::Tensor forward(const torch::Tensor& images);

 private:
  Stage stem_, middle_, top_;
  torch::nn::Linear head_;
};
TORCH_MODULE(StageNet);

// In Python the stages are Sequentials, whose children have numbers: Python's
// "top.0.weight" is "top.conv.weight" here.
std::vector<RenameRule> StageNetFromPython();
std::vector<RenameRule> StageNetToPython();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_STAGE_NET_H_

#include "tools/examples/stage_net.h"

#include <torch/nn/functional/pooling.h>

namespace trainyard {

StageImpl::StageImpl(int64_t inputs, int64_t outputs)
    : conv_(register_module(
          "conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, 3)
                                        .padding(1)
                                        .bias(false)))),
      norm_(register_module("norm", torch::nn::BatchNorm2d(outputs))) {}

torch::Tensor StageImpl::forward(const torch::Tensor& x) {
  namespace F = torch::nn::functional;
  return F::max_pool2d(norm_->forward(conv_->forward(x)).relu_(),
                       F::MaxPool2dFuncOptions(2));
}

StageNetImpl::StageNetImpl(int64_t classes)
    : stem_(register_module("stem", Stage(1, 16))),
      middle_(register_module("middle", Stage(16, 32))),
      top_(register_module("top", Stage(32, 64))),
      head_(register_module("head", torch::nn::Linear(64 * 3 * 3, classes))) {}

torch::Tensor StageNetImpl::forward(const torch::Tensor& images) {
  return head_->forward(
      top_->forward(middle_->forward(stem_->forward(images))).flatten(1));
}

std::vector<RenameRule> StageNetFromPython() {
  return {{.pattern = R"(\.0\.)", .replacement = ".conv."},
          {.pattern = R"(\.1\.)", .replacement = ".norm."}};
}

std::vector<RenameRule> StageNetToPython() {
  return {{.pattern = R"(\.conv\.)", .replacement = ".0."},
          {.pattern = R"(\.norm\.)", .replacement = ".1."}};
}

}  // namespace trainyard

#include "tools/bench/peers/networks.h"

#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/functional/dropout.h>
#include <torch/nn/functional/pooling.h>
#include <torch/nn/modules/activation.h>

namespace trainyard::bench {
namespace {

constexpr int64_t kVocabulary = 1000, kLength = 64, kWidth = 128, kHeads = 4,
                  kFeedForward = 512, kLayers = 4;

namespace F = torch::nn::functional;

// Pooling first gives the same result on a quarter of the elements.
at::Tensor HalveAndActivate(const at::Tensor& x) {
  return F::max_pool2d(x, F::MaxPool2dFuncOptions(2)).relu_();
}

torch::nn::LayerNorm MakeNorm() {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth}));
}

}  // namespace

torch::nn::Sequential MakeMlp(const std::vector<int64_t>& w) {
  return torch::nn::Sequential(torch::nn::Linear(w[0], w[1]), torch::nn::ReLU(),
                               torch::nn::Linear(w[1], w[2]), torch::nn::ReLU(),
                               torch::nn::Linear(w[2], w[3]));
}

PlainConvNetImpl::PlainConvNetImpl()
    : conv1_(register_module(
          "conv1",
          torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 3).padding(1)))),
      conv2_(register_module(
          "conv2",
          torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).padding(1)))),
      hidden_(register_module("hidden", torch::nn::Linear(32 * 7 * 7, 128))),
      output_(register_module("output", torch::nn::Linear(128, 10))) {}

at::Tensor PlainConvNetImpl::forward(const at::Tensor& images) {
  at::Tensor x = HalveAndActivate(conv1_->forward(images));
  x = HalveAndActivate(conv2_->forward(x));
  x = hidden_->forward(x.flatten(1)).relu_();
  x = F::dropout(x, F::DropoutFuncOptions().p(0.25).training(is_training()));
  return output_->forward(x);
}

EncoderLayerImpl::EncoderLayerImpl()
    : projections_(
          register_module("in_proj", torch::nn::Linear(kWidth, 3 * kWidth))),
      output_(register_module("out_proj", torch::nn::Linear(kWidth, kWidth))),
      up_(register_module("up", torch::nn::Linear(kWidth, kFeedForward))),
      down_(register_module("down", torch::nn::Linear(kFeedForward, kWidth))),
      norm1_(register_module("norm1", MakeNorm())),
      norm2_(register_module("norm2", MakeNorm())) {}

at::Tensor EncoderLayerImpl::forward(const at::Tensor& x) {
  const auto parts = projections_->forward(x)
                         .view({x.size(0), x.size(1), 3, kHeads, -1})
                         .permute({2, 0, 3, 1, 4})
                         .unbind(0);
  const at::Tensor attended =
      at::scaled_dot_product_attention(parts[0], parts[1], parts[2])
          .transpose(1, 2)
          .reshape(x.sizes());
  const at::Tensor hidden = norm1_->forward(x.add(output_->forward(attended)));
  return norm2_->forward(
      hidden.add(down_->forward(up_->forward(hidden).relu_())));
}

EncoderImpl::EncoderImpl()
    : embedding_(
          register_module("emb", torch::nn::Embedding(kVocabulary, kWidth))),
      position_(register_parameter("pos", at::zeros({kLength, kWidth}))),
      layers_(register_module("layers", torch::nn::Sequential())),
      head_(register_module("head", torch::nn::Linear(kWidth, kVocabulary))) {
  for (int64_t i = 0; i < kLayers; ++i) layers_->push_back(EncoderLayer());
}

at::Tensor EncoderImpl::forward(const at::Tensor& tokens) {
  const at::Tensor hidden =
      layers_->forward(embedding_->forward(tokens).add(position_));
  return head_->forward(hidden).transpose(1, 2);
}

}  // namespace trainyard::bench

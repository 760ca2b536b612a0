#include "tools/bench/peers/networks.h"

#include <ATen/ops/zeros.h>
#include <torch/nn/modules/activation.h>

namespace trainyard::bench {
namespace {

constexpr int64_t kVocabulary = 1000, kLength = 64, kWidth = 128, kHeads = 4,
                  kFeedForward = 512, kLayers = 4;

torch::nn::TransformerEncoder MakeLayers() {
  const auto layer = torch::nn::TransformerEncoderLayerOptions(kWidth, kHeads)
                         .dim_feedforward(kFeedForward)
                         .dropout(0);
  return torch::nn::TransformerEncoder(
      torch::nn::TransformerEncoderOptions(layer, kLayers));
}

}  // namespace

torch::nn::Sequential MakeMlp(const std::vector<int64_t>& w) {
  return torch::nn::Sequential(torch::nn::Linear(w[0], w[1]), torch::nn::ReLU(),
                               torch::nn::Linear(w[1], w[2]), torch::nn::ReLU(),
                               torch::nn::Linear(w[2], w[3]));
}

EncoderImpl::EncoderImpl()
    : embedding_(
          register_module("emb", torch::nn::Embedding(kVocabulary, kWidth))),
      position_(register_parameter("pos", at::zeros({kLength, kWidth}))),
      encoder_(register_module("enc", MakeLayers())),
      head_(register_module("head", torch::nn::Linear(kWidth, kVocabulary))) {}

at::Tensor EncoderImpl::forward(const at::Tensor& tokens) {
  const at::Tensor input = embedding_->forward(tokens).add(position_);
  // The encoder requires the sequence as the first dimension.
  const at::Tensor hidden = encoder_->forward(input.transpose(0, 1));
  return head_->forward(hidden.transpose(0, 1)).transpose(1, 2);
}

}  // namespace trainyard::bench

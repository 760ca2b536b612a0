// CharTransformer is a small transformer that predicts the next character; an
// ordinary torch::nn module.
//
//   CharTransformer model(CharTransformerOptions{
//       .vocabulary = text.vocabulary(), .length = length});
//
// Thread-compatible, as torch::nn modules are.
#ifndef TRAINYARD_TOOLS_EXAMPLES_CHAR_TRANSFORMER_H_
#define TRAINYARD_TOOLS_EXAMPLES_CHAR_TRANSFORMER_H_

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace trainyard {

struct CharTransformerOptions {
  // Number of characters, including padding. REQUIRES: > 0.
  int64_t vocabulary = 0;
  // Maximum length of a sequence.
  int64_t length = 0;
  int64_t width = 96;
  int64_t heads = 4;
  int64_t layers = 3;
};

// Causal self-attention, then a perceptron, each with a residual connection.
class CharBlockImpl : public torch::nn::Module {
 public:
  CharBlockImpl(int64_t width, int64_t heads);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  int64_t heads_;
  torch::nn::LayerNorm attention_norm_, perceptron_norm_;
  torch::nn::Linear query_key_value_, projection_, widen_, narrow_;
};
TORCH_MODULE(CharBlock);

class CharTransformerImpl : public torch::nn::Module {
 public:
  explicit CharTransformerImpl(const CharTransformerOptions& options);
  // From N x T numbers to N x T x vocabulary logits.
  torch::Tensor forward(const torch::Tensor& numbers);

 private:
  torch::nn::Embedding characters_, places_;
  std::vector<CharBlock> blocks_;
  torch::nn::LayerNorm norm_;
  torch::nn::Linear output_;
};
TORCH_MODULE(CharTransformer);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_CHAR_TRANSFORMER_H_

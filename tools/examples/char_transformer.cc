#include "tools/examples/char_transformer.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <string>

namespace trainyard {

CharBlockImpl::CharBlockImpl(int64_t width, int64_t heads)
    : heads_(heads),
      attention_norm_(register_module(
          "attention_norm",
          torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})))),
      perceptron_norm_(register_module(
          "perceptron_norm",
          torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})))),
      query_key_value_(register_module("query_key_value",
                                       torch::nn::Linear(width, 3 * width))),
      projection_(
          register_module("projection", torch::nn::Linear(width, width))),
      widen_(register_module("widen", torch::nn::Linear(width, 4 * width))),
      narrow_(register_module("narrow", torch::nn::Linear(4 * width, width))) {}

torch::Tensor CharBlockImpl::forward(const torch::Tensor& x) {
  const int64_t rows = x.size(0), length = x.size(1), width = x.size(2);
  // 3 x rows x heads x length x width of a head
  const torch::Tensor parts =
      query_key_value_->forward(attention_norm_->forward(x))
          .view({rows, length, 3, heads_, width / heads_})
          .permute({2, 0, 3, 1, 4});
  const torch::Tensor attended = at::scaled_dot_product_attention(
      parts[0], parts[1], parts[2], /*attn_mask=*/{}, /*dropout_p=*/0,
      /*is_causal=*/true);
  const torch::Tensor y =
      x + projection_->forward(
              attended.transpose(1, 2).reshape({rows, length, width}));
  return y + narrow_->forward(
                 at::gelu(widen_->forward(perceptron_norm_->forward(y))));
}

CharTransformerImpl::CharTransformerImpl(const CharTransformerOptions& options)
    : characters_(register_module(
          "characters",
          torch::nn::Embedding(options.vocabulary, options.width))),
      places_(register_module(
          "places", torch::nn::Embedding(options.length, options.width))),
      norm_(register_module(
          "norm",
          torch::nn::LayerNorm(torch::nn::LayerNormOptions({options.width})))),
      output_(register_module(
          "output", torch::nn::Linear(options.width, options.vocabulary))) {
  for (int64_t i = 0; i < options.layers; ++i) {
    blocks_.push_back(register_module("block" + std::to_string(i),
                                      CharBlock(options.width, options.heads)));
  }
}

torch::Tensor CharTransformerImpl::forward(const torch::Tensor& numbers) {
  torch::Tensor x =
      characters_->forward(numbers) +
      places_->forward(at::arange(numbers.size(1), numbers.options()));
  for (CharBlock& block : blocks_) x = block->forward(x);
  return output_->forward(norm_->forward(x));
}

}  // namespace trainyard

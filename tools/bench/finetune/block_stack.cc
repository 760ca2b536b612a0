#include "tools/bench/finetune/block_stack.h"

#include <string>

#include "finetuning/activation_checkpoint.h"

namespace trainyard {

BlockStackImpl::BlockStackImpl(const BlockStackOptions& options)
    : checkpoint_activations_(options.checkpoint_activations),
      characters_(register_module(
          "characters",
          torch::nn::Embedding(options.vocabulary, options.width))),
      head_(nullptr) {
  for (int64_t i = 0; i < options.blocks; ++i) {
    blocks_.push_back(register_module("block" + std::to_string(i),
                                      CharBlock(options.width, /*heads=*/6)));
  }
  head_ = register_module("head",
                          torch::nn::Linear(options.width, options.vocabulary));
}

torch::Tensor BlockStackImpl::forward(const torch::Tensor& numbers) {
  torch::Tensor x = characters_->forward(numbers);
  for (CharBlock& block : blocks_) {
    x = checkpoint_activations_ ? CheckpointActivations(
                                      [block](const at::Tensor& y) mutable {
                                        return block->forward(y);
                                      },
                                      x)
                                : block->forward(x);
  }
  return head_->forward(x);
}

}  // namespace trainyard

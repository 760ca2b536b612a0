// BlockStack is a transformer of 24 blocks for benchmarks of fine-tuning, with
// or without activation checkpointing; an ordinary torch::nn module.
//
//   BlockStack model(BlockStackOptions{
//       .width = 48, .checkpoint_activations = checkpoint_activations});
//
// Thread-compatible, as torch::nn modules are.
#ifndef TRAINYARD_TOOLS_BENCH_FINETUNE_BLOCK_STACK_H_
#define TRAINYARD_TOOLS_BENCH_FINETUNE_BLOCK_STACK_H_

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "tools/examples/char_transformer.h"

namespace trainyard {

struct BlockStackOptions {
  int64_t blocks = 24;
  int64_t width = 192;
  int64_t vocabulary = 96;
  // Whether blocks store only their inputs; see
  // finetuning/activation_checkpoint.h.
  bool checkpoint_activations = false;
};

class BlockStackImpl : public torch::nn::Module {
 public:
  explicit BlockStackImpl(const BlockStackOptions& options);
  // From N x T numbers to N x T x vocabulary logits.
  torch::Tensor forward(const torch::Tensor& numbers);

 private:
  bool checkpoint_activations_;
  torch::nn::Embedding characters_;
  std::vector<CharBlock> blocks_;
  torch::nn::Linear head_;
};
TORCH_MODULE(BlockStack);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_BENCH_FINETUNE_BLOCK_STACK_H_

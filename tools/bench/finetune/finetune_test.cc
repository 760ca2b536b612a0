// Frozen layers need no backward, and checkpointed activations no memory.
// Counts autograd functions and bytes, which do not depend on the machine's
// load.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <unordered_set>
#include <vector>

#include "finetuning/freezer/model_freezer.h"
#include "finetuning/testing/tensor_memory.h"
#include "tools/bench/finetune/block_stack.h"

namespace trainyard {
namespace {

using torch::autograd::Node;

// Functions that backward would call.
size_t CountNodes(const at::Tensor& loss) {
  std::vector<const Node*> open = {
      torch::autograd::impl::gradient_edge(loss).function.get()};
  std::unordered_set<const Node*> seen(open.begin(), open.end());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const auto& edge : node->next_edges()) {
      const Node* const next = edge.function.get();
      if (next != nullptr && seen.insert(next).second) open.push_back(next);
    }
  }
  return seen.size();
}

at::Tensor LossOf(BlockStack& model) {
  const at::Tensor text = at::randint(96, {2, 8}, at::kLong);
  return at::cross_entropy_loss(model->forward(text).flatten(0, 1),
                                text.flatten());
}

BlockStack Stack(int64_t blocks) {
  return BlockStack(BlockStackOptions{.blocks = blocks, .width = 48});
}

TEST(FinetuneTest, FrozenBlocksHaveNoBackward) {
  BlockStack small = Stack(2), large = Stack(6);
  EXPECT_GT(CountNodes(LossOf(large)), 2 * CountNodes(LossOf(small)));
  for (BlockStack* model : {&small, &large}) {
    ModelFreezer(**model).FreezeGroups();
  }
  // The head, however much is below it.
  EXPECT_EQ(CountNodes(LossOf(large)), CountNodes(LossOf(small)));
  EXPECT_LT(CountNodes(LossOf(large)), 12);
}

TEST(FinetuneTest, BackwardEndsAtTheLowestBlockThatIsTrained) {
  BlockStack small = Stack(2), large = Stack(6);
  const auto train_the_last_block = [](BlockStack& model) {
    ModelFreezer freezer(*model);
    freezer.FreezeGroups();
    freezer.UnfreezeGroups(-2, -2);
  };
  train_the_last_block(small);
  train_the_last_block(large);
  EXPECT_EQ(CountNodes(LossOf(large)), CountNodes(LossOf(small)));
}

TEST(FinetuneTest, FrozenParametersGetNoGradient) {
  BlockStack model = Stack(2);
  ModelFreezer(*model).FreezeGroups();
  LossOf(model).backward();
  for (const auto& item : model->named_parameters()) {
    EXPECT_EQ(item.value().grad().defined(), item.key().starts_with("head."))
        << item.key();
  }
}

// Peak of activations and gradients in one step, in bytes of tensors.
int64_t PeakOf(bool checkpoint_activations) {
  BlockStack model(BlockStackOptions{
      .width = 48, .checkpoint_activations = checkpoint_activations});
  const at::Tensor text = at::randint(96, {8, 64}, at::kLong);
  const TensorMemory memory;
  at::cross_entropy_loss(model->forward(text).flatten(0, 1), text.flatten())
      .backward();
  return memory.peak();
}

TEST(FinetuneTest, CheckpointedActivationsOf24BlocksTakeLittleMemory) {
  const auto plain = static_cast<double>(PeakOf(false));
  EXPECT_LE(static_cast<double>(PeakOf(true)), 0.45 * plain);
}

}  // namespace
}  // namespace trainyard

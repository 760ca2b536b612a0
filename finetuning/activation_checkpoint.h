// CheckpointActivations runs a block of a model and stores only its inputs.
// Backward runs the block a second time to recompute the activations. This
// trades compute for memory; the gradients are bit-identical.
//
//   at::Tensor x = input;
//   for (const Block& block : blocks) x = CheckpointActivations(block, x);
//
// Both passes draw the same random numbers and use the same autocast state. A
// block may contain checkpointed blocks, use parameters and tensors from
// outside, share parameters with other blocks and be differentiated twice.
// Parameters stay leaves of the graph, so data-parallel backends see them. If
// gradients are not recorded, the block runs once and nothing is stored.
//
// The block must compute the same result both times and must not modify its
// inputs. Both are checked: for the result, the shapes of the outputs and the
// tensors that they depend on. The block is kept until backward and may then
// run on a thread of libtorch's autograd engine. If several blocks share a
// parameter and one of them uses it more than once, its gradient is summed in a
// different order and may differ in the last bit.
//
// On Linux, call mallopt(M_MMAP_THRESHOLD, 1 << 20) at the start of the
// program: otherwise glibc keeps about half of the freed memory.
//
// Thread-safe if the block is.
#ifndef TRAINYARD_FINETUNING_ACTIVATION_CHECKPOINT_H_
#define TRAINYARD_FINETUNING_ACTIVATION_CHECKPOINT_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace trainyard {

struct ActivationCheckpointOptions {
  // Restore the random number generators for the second pass. A block that
  // draws no random numbers can turn this off and save a copy of their state
  // (5 KB on the CPU).
  bool preserve_rng = true;
  // Tensors that the block modifies, e.g. running statistics of batch norms.
  // They are restored after the second pass, so that they change only once.
  std::vector<at::Tensor> buffers = {};
};

at::Tensor CheckpointActivations(
    std::function<at::Tensor(const at::Tensor&)> block, const at::Tensor& input,
    const ActivationCheckpointOptions& options = {});

// The same for several inputs, each with or without a gradient, and several
// outputs.
std::vector<at::Tensor> CheckpointActivations(
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>
        block,
    const std::vector<at::Tensor>& inputs,
    const ActivationCheckpointOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_ACTIVATION_CHECKPOINT_H_

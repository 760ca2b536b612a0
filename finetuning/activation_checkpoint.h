// CheckpointActivations runs a block of a model and keeps only its inputs: what
// backward needs of the block's inside is computed again when backward gets
// there. Memory for a second forward pass, with the same gradients to the bit.
//
//   for (Block& block : blocks) {
//     x = CheckpointActivations(
//         [block](const at::Tensor& y) mutable { return block->forward(y); },
//         x);
//   }
//
// Both passes draw the same random numbers and see the same autocast. Blocks
// may be nested, take parameters and tensors from outside, share parameters and
// be differentiated twice; parameters stand in the graph as without, so that
// data-parallel backends see them. Where gradients are not recorded, the block
// is simply run.
//
// The block must compute the same both times, which is checked as far as shapes
// and the tensors it depends on go, and must not change its inputs, which is
// checked too. It is kept until backward and may then run on a thread of
// libtorch's engine. A parameter that several blocks use, one of them more than
// once, has its gradient's terms added in another order: the last bit may
// differ.
//
// On Linux, mallopt(M_MMAP_THRESHOLD, 1 << 20) at the start of a program makes
// glibc give back what is freed here; by itself it keeps about half of it.
//
// Thread-safe, as far as the block is.
#ifndef TRAINYARD_FINETUNING_ACTIVATION_CHECKPOINT_H_
#define TRAINYARD_FINETUNING_ACTIVATION_CHECKPOINT_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace trainyard {

struct ActivationCheckpointOptions {
  // Draw the same random numbers again. A block without dropout may leave the
  // copy of the generators' state (5 KB on the CPU) out.
  bool preserve_rng = true;
  // What the block changes as it runs, e.g. running statistics of batch norms:
  // put back after the second pass, as if there had been one.
  std::vector<at::Tensor> buffers = {};
};

at::Tensor CheckpointActivations(
    std::function<at::Tensor(const at::Tensor&)> block, const at::Tensor& input,
    const ActivationCheckpointOptions& options = {});

// Of several inputs, each with or without a gradient, and several outputs.
std::vector<at::Tensor> CheckpointActivations(
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>
        block,
    const std::vector<at::Tensor>& inputs,
    const ActivationCheckpointOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_ACTIVATION_CHECKPOINT_H_

// AdaptedWeight makes a tensor that replaces a layer's weight and adds a
// low-rank change to everything that is computed with it. The layer's class and
// forward need not know:
//
//   linear->weight = AdaptedWeight(
//       {LowRankKind::kLinear, linear->weight, a, b, /*scale=*/2});
//   const at::Tensor y = linear->forward(x);  // x W' + 2 x A' B'
//
// at::linear, products with the transposed weight, at::conv2d and at::embedding
// compute the change beside the weight; its full matrix is never built, neither
// in forward nor in backward. Every other operation sees the sum of weight and
// change, computed on demand. Operations that would write to the tensor throw.
// The tensor has no memory of its own.
//
// Implementation: the tensor carries a dispatch key that nothing else in the
// process uses (TESTING_ONLY_GenericWrapper), so libtorch calls us before
// autocast and autograd. The key is claimed when the first adapted weight is
// made.
//
// Thread-compatible, like other tensors.
#ifndef TRAINYARD_FINETUNING_LORA_ADAPTED_WEIGHT_H_
#define TRAINYARD_FINETUNING_LORA_ADAPTED_WEIGHT_H_

#include <ATen/core/Tensor.h>

#include <functional>

namespace trainyard {

enum class LowRankKind { kLinear, kConv2d, kEmbedding };

struct LowRankChange {
  LowRankKind kind;
  // The layer's own weight, as registered in the layer.
  at::Tensor weight;
  // Shapes:
  //   kLinear     a: rank x in, b: out x rank
  //   kConv2d     a: rank x in x height x width, b: out x rank x 1 x 1
  //   kEmbedding  a: rank x num_embeddings, b: embedding_dim x rank
  at::Tensor a, b;
  double scale = 1;
  // Dropout on the inputs of the change while `is_training` returns true.
  // Embeddings ignore it.
  double dropout = 0;
  std::function<bool()> is_training = {};
};

// The change as a full matrix in the weight's shape; differentiable in a and b.
at::Tensor WeightChange(const LowRankChange& change);

at::Tensor AdaptedWeight(LowRankChange change);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_ADAPTED_WEIGHT_H_

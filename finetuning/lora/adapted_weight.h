// AdaptedWeight is a tensor that stands in for a layer's weight and adds a
// low-rank change to whatever is computed with it. A layer that has one in
// place of its weight is adapted, however it is called:
//
//   at::Tensor a = …, b = …;
//   linear->weight = AdaptedWeight({LowRankKind::kLinear, linear->weight, a, b,
//                                   /*scale=*/2});
//   linear->forward(x);      // x W' + 2 x A' B'
//
// at::linear, products with the transposed weight, at::conv2d and at::embedding
// compute the change beside the weight and never its full matrix, neither
// forward nor backward. Every other operation gets the sum of weight and
// change, computed for it. Operations that
// would write to it throw. It has no memory of its own.
//
// How: the tensor carries a dispatch key that nobody else in the process uses
// (TESTING_ONLY_GenericWrapper), so that libtorch hands us operations on it
// before autocast and autograd see them. The key is claimed when the first
// adapted weight is made.
//
// Thread-compatible, as other tensors.
#ifndef TRAINYARD_FINETUNING_LORA_ADAPTED_WEIGHT_H_
#define TRAINYARD_FINETUNING_LORA_ADAPTED_WEIGHT_H_

#include <ATen/core/Tensor.h>

#include <functional>

namespace trainyard {

enum class LowRankKind { kLinear, kConv2d, kEmbedding };

struct LowRankChange {
  LowRankKind kind;
  // The weight itself, as its layer has it registered.
  at::Tensor weight;
  // kLinear: a is rank x in, b is out x rank. kConv2d: a is rank x in x height
  // x width, b is out x rank x 1 x 1. kEmbedding: a is rank x number, b is size
  // x rank.
  at::Tensor a, b;
  double scale = 1;
  // Share of the inputs that the change does not see while `is_training`
  // returns true. Not of embeddings.
  double dropout = 0;
  std::function<bool()> is_training = {};
};

// What is added to the weight, in its shape; with gradients to a and b.
at::Tensor WeightChange(const LowRankChange& change);

at::Tensor AdaptedWeight(LowRankChange change);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_ADAPTED_WEIGHT_H_

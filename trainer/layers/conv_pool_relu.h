// ConvPoolRelu is a convolution of 3 x 3 with padding 1, then the maximum of
// every window of 2 x 2, then ReLU: the usual block of a small convolution
// network, as one function that autograd differentiates.
//
//   torch::Tensor x =
//       ConvPoolRelu(images, conv1_->weight, conv1_->bias);
//
// It computes relu(max_pool2d(conv2d(input, weight, bias, 1, 1), 2)). For
// floats in the memory of a CPU with AVX2, it is one pass that keeps neither
// what the convolution returns nor 64-bit indices of the maxima, and its
// backward visits only the inputs of the maxima that ReLU let through. Values
// then differ from those of the three operations by rounding only, and have the
// same bits with any number of threads. For anything else, such as other types
// and devices, mixed precision, gradients of gradients and more than
// kConvPoolReluChannels channels, it calls the three operations.
// tools/bench/README.md says how fast it is.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_LAYERS_CONV_POOL_RELU_H_
#define TRAINYARD_TRAINER_LAYERS_CONV_POOL_RELU_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace trainyard {

// `input`: N x channels x height x width. `weight`: filters x channels x 3 x 3.
// `bias`: filters, or undefined. Returns N x filters x height / 2 x width / 2,
// rounded down; where it is faster, in the channels-last format, whatever that
// of the input.
at::Tensor ConvPoolRelu(const at::Tensor& input, const at::Tensor& weight,
                        const at::Tensor& bias = {});

// With more input channels or filters than this, oneDNN is as fast.
inline constexpr int64_t kConvPoolReluChannels = 64;

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LAYERS_CONV_POOL_RELU_H_

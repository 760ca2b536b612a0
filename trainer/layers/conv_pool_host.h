// The passes of ConvPoolRelu over a batch in memory of the CPU: the images are
// divided among libtorch's threads, and the result has the same bits with any
// number of them.
//
//   const ConvPoolHost host(*FastestConvPoolKernels(), input, weight);
//   const ConvPooled pooled = host.Forward(bias, /*for_gradients=*/true);
//   const ConvPoolGrads grads = host.Backward(pooled.chosen, grad, wanted);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LAYERS_CONV_POOL_HOST_H_
#define TRAINYARD_TRAINER_LAYERS_CONV_POOL_HOST_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trainer/layers/conv_pool_kernels.h"

namespace trainyard {

struct ConvPooled {
  at::Tensor output;  // N x filters x height / 2 x width / 2, channels last
  at::Tensor chosen;  // see ConvPoolKernels; undefined without gradients
};

struct ConvPoolGrads {
  at::Tensor input, weight, bias;  // undefined where not wanted
};

struct ConvPoolWanted {
  bool input = true, weight = true, bias = true;
};

class ConvPoolHost {
 public:
  // Borrows the kernels.
  // REQUIRES: floats on the CPU, N x channels x height x width with N >= 1,
  // channels >= 1, height and width >= 2, and filters x channels x 3 x 3; any
  // strides.
  ConvPoolHost(const ConvPoolKernels& kernels, const at::Tensor& input,
               const at::Tensor& weight);

  // `bias`: one per filter, or undefined.
  ConvPooled Forward(const at::Tensor& bias, bool for_gradients) const;

  // `grad`: of the output; any strides.
  ConvPoolGrads Backward(const at::Tensor& chosen, const at::Tensor& grad,
                         const ConvPoolWanted& wanted) const;

 private:
  // An image of the batch between zeros: as planes of channels, or with padded
  // channels last.
  void CopyPlanes(int64_t image, float* to) const;
  void CopyImage(int64_t image, float* to) const;
  // Of one image.
  void AddWeightGradient(int64_t image, const float* grad,
                         const uint8_t* chosen, float* weight,
                         float* bias) const;
  void WriteInputGradient(int64_t image, const float* grad,
                          const uint8_t* chosen, const float* weight,
                          at::Tensor& result) const;
  at::Tensor WeightGradient(const float* slices, int64_t count) const;

  const ConvPoolKernels& kernels_;
  at::Tensor input_, weight_;
  int64_t images_;
  ConvPoolShape shape_;
  // The weight gradient is computed by the kernel for few channels.
  bool few_;
  // Elements of a weight gradient as the kernels store it.
  int64_t weight_elements_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LAYERS_CONV_POOL_HOST_H_

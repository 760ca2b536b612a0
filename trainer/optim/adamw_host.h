// The update of AdamW for float parameters on the CPU, including the division
// of the gradients. Unlike ATen's fused kernel it does not write the gradients
// back (an eighth of all memory traffic), and a small tensor costs no calls.
//
//   if (CanUpdateAdamWOnHost(params)) {
//     UpdateAdamWOnHost(param, grad, exp_avg, exp_avg_sq, step);
//   }
//
// The numbers are those of ATen's kernel up to rounding. Thread-safe for
// different tensors.
#ifndef TRAINYARD_TRAINER_OPTIM_ADAMW_HOST_H_
#define TRAINYARD_TRAINER_OPTIM_ADAMW_HOST_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainyard {

struct AdamWHostStep {
  double lr = 0;
  double beta1 = 0;
  double beta2 = 0;
  double eps = 0;
  double weight_decay = 0;
  // The number of this update, counted from 1.
  double step = 1;
  // The gradients are divided by this.
  float divisor = 1;
};

// Returns true if the parameters are floats on the CPU, the processor has AVX2
// and FMA, and one thread is enough: libtorch has one thread only, or there are
// few elements. REQUIRES: all parameters have the same type and device.
bool CanUpdateAdamWOnHost(const std::vector<at::Tensor>& params);

// Updates one parameter. REQUIRES: CanUpdateAdamWOnHost, and all tensors have
// the same dense layout.
void UpdateAdamWOnHost(const at::Tensor& param, const at::Tensor& grad,
                       const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                       const AdamWHostStep& step);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAMW_HOST_H_

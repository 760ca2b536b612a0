// AdamW's update of float parameters on the host, with the division of
// gradients folded in: unlike ATen's fused kernel it does not write gradients
// back, which is an eighth of all memory traffic, and a small tensor costs no
// calls.
//
//   if (CanUpdateAdamWOnHost(params)) {
//     UpdateAdamWOnHost(param, grad, exp_avg, exp_avg_sq, step);
//   }
//
// The numbers are those of ATen's kernel, but for the last bits of some.
// Thread-safe over different tensors.
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
  // This update's number, from 1.
  double step = 1;
  // What gradients are divided by.
  float divisor = 1;
};

// Whether these parameters, all of one type and device, are floats on a
// processor with AVX2 and FMA, and so few, or libtorch's threads so few, that
// one thread is enough.
bool CanUpdateAdamWOnHost(const std::vector<at::Tensor>& params);

// REQUIRES: the above, and all tensors in one dense layout.
void UpdateAdamWOnHost(const at::Tensor& param, const at::Tensor& grad,
                       const at::Tensor& exp_avg, const at::Tensor& exp_avg_sq,
                       const AdamWHostStep& step);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_ADAMW_HOST_H_

// Clip limits gradients before an update: all of them together by their norm,
// each element by its value, or by a function of the user's.
//
//   ClipNorm(1.0);       // scales all gradients: their 2-norm is at most 1
//   ClipValue(0.5);      // limits each element to [-0.5, 0.5]
//   ClipWith(function);  // calls function(gradients)
//
// Applied by Backend::Update, or in a user's own loop by ClipGradients.
#ifndef TRAINYARD_TRAINER_OPTIM_CLIP_H_
#define TRAINYARD_TRAINER_OPTIM_CLIP_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace trainyard {

struct Clip {
  enum class Kind { kNone, kNorm, kValue, kFunction };
  using Function = std::function<void(const std::vector<at::Tensor>&)>;

  Kind kind = Kind::kNone;
  double limit = 0;
  Function function = nullptr;
};

// REQUIRES: the limit is a number above 0.
Clip ClipNorm(double max_norm);
Clip ClipValue(double max_value);
// REQUIRES: the function is not null.
Clip ClipWith(Clip::Function function);

// "none", "norm 1", "value 0.5", "function".
std::string ToString(const Clip& clip);

// The 2-norm of all gradients together, a scalar on their device. Zero for an
// empty list.
at::Tensor GradientNorm(const std::vector<at::Tensor>& gradients);

// What to divide the gradients by so that their norm, itself divided by
// `divisor` first, is at most `max_norm`: `divisor`, or more. A scalar like
// `norm`, without waiting for the device.
at::Tensor ClippingDivisor(const at::Tensor& norm, double divisor,
                           double max_norm);

// The same for gradients whose norm nobody else wants; cheaper on the host.
at::Tensor ClippingDivisor(const std::vector<at::Tensor>& gradients,
                           double divisor, double max_norm);

// Clips in place.
void ClipGradients(const std::vector<at::Tensor>& gradients, const Clip& clip);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_CLIP_H_

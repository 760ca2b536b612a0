// Clip limits gradients before an update: all of them together by their norm,
// each element by its value, or by a function of your own.
//
//   ClipNorm(1.0);       // scales all gradients: their 2-norm is at most 1
//   ClipValue(0.5);      // limits each element to [-0.5, 0.5]
//   ClipWith(function);  // calls function(gradients)
//
// Backend::Update applies it; a loop of your own calls ClipGradients.
// Thread-compatible.
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

// Throws c10::ValueError unless the limit is finite and above 0.
Clip ClipNorm(double max_norm);
Clip ClipValue(double max_value);
// Throws c10::ValueError if the function is null.
Clip ClipWith(Clip::Function function);

// Returns "none", "norm 1", "value 0.5" or "function".
std::string ToString(const Clip& clip);

// Returns the 2-norm of all gradients together, a scalar on their device. Zero
// for an empty list.
at::Tensor GradientNorm(const std::vector<at::Tensor>& gradients);

// Returns the smallest number that is at least `divisor` and by which the
// gradients, whose norm is `norm`, must be divided so that their norm is at
// most `max_norm`. A scalar on the device of `norm`; does not wait for the
// device.
at::Tensor ClippingDivisor(const at::Tensor& norm, double divisor,
                           double max_norm);

// The same, computing the norm of the gradients. Cheaper on the CPU than
// GradientNorm followed by the function above, and undefined there if nothing
// has to be divided.
at::Tensor ClippingDivisor(const std::vector<at::Tensor>& gradients,
                           double divisor, double max_norm);

// Clips the gradients in place.
void ClipGradients(const std::vector<at::Tensor>& gradients, const Clip& clip);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_CLIP_H_

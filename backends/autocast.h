// Autocast makes operations on a device compute in half precision where that is
// safe, for as long as the object exists. Tensors keep their types.
//
//   {
//     const Autocast autocast(at::kCPU, at::kBFloat16);
//     loss = at::mse_loss(at::matmul(weight, input), target);
//   }
//   loss.backward();
//
// It applies to the thread that created it, which must also destroy it. The
// innermost object wins; one with `enabled` false computes in full precision.
#ifndef TRAINYARD_BACKENDS_AUTOCAST_H_
#define TRAINYARD_BACKENDS_AUTOCAST_H_

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace trainyard {

class Autocast {
 public:
  // REQUIRES: dtype is kBFloat16 or kHalf.
  Autocast(c10::DeviceType device, c10::ScalarType dtype, bool enabled = true);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_before_;
  c10::ScalarType dtype_before_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_AUTOCAST_H_

// Autocast lets operations on a device compute in half precision where that is
// safe, as long as it lives. Tensors stay as they are.
//
//   {
//     const Autocast autocast(at::kCPU, at::kBFloat16);
//     loss = Loss(model->forward(input), target);
//   }
//   loss.backward();
//
// It acts on the thread that made it, which must also end it. Inner ones win
// over outer ones, and one made with `enabled` false computes in full precision
// again.
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

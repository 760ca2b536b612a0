// DeviceSum adds scalars on their device: Add does not wait for the device,
// Read does.
//
//   DeviceSum sum;
//   sum.Add(loss, /*weight=*/8);
//   const double total = sum.Read();
//
// A copy is independent of the original. Thread-compatible.
#ifndef TRAINYARD_TRACKING_DEVICE_SUM_H_
#define TRAINYARD_TRACKING_DEVICE_SUM_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

namespace trainyard {

class DeviceSum {
 public:
  // REQUIRES: one element; all values on one device.
  void Add(const at::Tensor& value, double weight) {
    const at::NoGradGuard no_gradients;
    // Float64, because long sums lose digits. Not in place, because a copy
    // shares the tensor.
    const at::Tensor term =
        value.detach().reshape({}).to(at::kDouble).mul(weight);
    sum_ = sum_.defined() ? sum_.add(term) : term;
  }

  // Undefined before any value. Nobody writes to it.
  const at::Tensor& tensor() const { return sum_; }

  // 0 before any value.
  double Read() const { return sum_.defined() ? sum_.item<double>() : 0; }

 private:
  at::Tensor sum_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_DEVICE_SUM_H_

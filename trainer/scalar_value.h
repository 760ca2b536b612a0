// ScalarValue reads the number of a tensor that has one element.
//
//   const double loss = ScalarValue(output.loss);
//
// The value is that of item<double>(). A float or double on the CPU is read
// from its memory, without libtorch's dispatcher: for code that runs at every
// step. On other devices it waits for the number, as item() does.
//
// Thread-safe: it only reads.
#ifndef TRAINYARD_TRAINER_SCALAR_VALUE_H_
#define TRAINYARD_TRAINER_SCALAR_VALUE_H_

#include <ATen/core/Tensor.h>

namespace trainyard {

// Throws c10::Error if the tensor has not exactly one element.
inline double ScalarValue(const at::Tensor& tensor) {
  if (tensor.is_cpu() && tensor.numel() == 1) {
    if (tensor.scalar_type() == at::kFloat) {
      return *tensor.const_data_ptr<float>();
    }
    if (tensor.scalar_type() == at::kDouble) {
      return *tensor.const_data_ptr<double>();
    }
  }
  return tensor.item<double>();
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_SCALAR_VALUE_H_

// FitTensor says how a saved tensor can be loaded into a tensor of a model: as
// it is, converted to another floating-point type, or in part (heads and
// vocabularies of another size). FillTensor loads it.
//
//   const TensorFit fit = FitTensor(saved, wanted);
//   if (fit.shape == TensorFit::Shape::kSame) FillTensor(saved, wanted);
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_WARM_START_TENSOR_FIT_H_
#define TRAINYARD_FINETUNING_WARM_START_TENSOR_FIT_H_

#include <ATen/core/Tensor.h>

namespace trainyard {

struct TensorFit {
  enum class Shape {
    kSame,
    // Sizes differ in exactly one dimension, e.g. the number of classes.
    kSlice,
    kOther,
  };
  enum class Type {
    kSame,
    // Different, but both floating-point.
    kConvert,
    kOther,
  };
  Shape shape;
  Type type;
};

TensorFit FitTensor(const at::Tensor& saved, const at::Tensor& wanted);

// Copies the values, between any devices. If sizes differ, copies the leading
// part that both have and leaves the rest of `wanted` unchanged. REQUIRES:
// neither shape nor type is kOther.
void FillTensor(const at::Tensor& saved, const at::Tensor& wanted);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_TENSOR_FIT_H_

// How a saved tensor goes into one of a model: as it is, as another
// floating-point type, or, of heads and vocabularies, the part that both have.
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
    // Another size in one dimension, e.g. another number of classes.
    kSlice,
    kOther,
  };
  enum class Type {
    kSame,
    // Both floating-point.
    kConvert,
    kOther,
  };
  Shape shape;
  Type type;
};

TensorFit FitTensor(const at::Tensor& saved, const at::Tensor& wanted);

// Copies the values, from any device to any. Where sizes differ: the first rows
// that both have; the others of `wanted` stay as they are. REQUIRES: neither
// shape nor type is kOther.
void FillTensor(const at::Tensor& saved, const at::Tensor& wanted);

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_WARM_START_TENSOR_FIT_H_

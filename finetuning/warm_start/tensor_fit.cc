#include "finetuning/warm_start/tensor_fit.h"

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace trainyard {
namespace {

TensorFit::Shape FitShape(const at::Tensor& saved, const at::Tensor& wanted) {
  if (saved.sizes() == wanted.sizes()) return TensorFit::Shape::kSame;
  if (saved.dim() != wanted.dim()) return TensorFit::Shape::kOther;
  int differing = 0;
  for (int64_t i = 0; i < saved.dim(); ++i) {
    if (saved.size(i) != wanted.size(i)) ++differing;
  }
  return differing == 1 ? TensorFit::Shape::kSlice : TensorFit::Shape::kOther;
}

TensorFit::Type FitType(const at::Tensor& saved, const at::Tensor& wanted) {
  if (saved.scalar_type() == wanted.scalar_type()) {
    return TensorFit::Type::kSame;
  }
  return saved.is_floating_point() && wanted.is_floating_point()
             ? TensorFit::Type::kConvert
             : TensorFit::Type::kOther;
}

}  // namespace

TensorFit FitTensor(const at::Tensor& saved, const at::Tensor& wanted) {
  return {FitShape(saved, wanted), FitType(saved, wanted)};
}

void FillTensor(const at::Tensor& saved, const at::Tensor& wanted) {
  const TensorFit fit = FitTensor(saved, wanted);
  TORCH_INTERNAL_ASSERT(fit.shape != TensorFit::Shape::kOther &&
                        fit.type != TensorFit::Type::kOther);
  const c10::AutoGradMode no_gradients(false);
  at::Tensor from = saved.detach();
  at::Tensor to = wanted.detach();
  for (int64_t i = 0; i < to.dim(); ++i) {
    const int64_t both = std::min(from.size(i), to.size(i));
    from = from.narrow(i, 0, both);
    to = to.narrow(i, 0, both);
  }
  to.copy_(from);
}

}  // namespace trainyard

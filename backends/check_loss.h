// CheckLoss rejects a loss that Backend::Backward cannot train, and says what
// to do.
//
//   CheckLoss(loss);
#ifndef TRAINYARD_BACKENDS_CHECK_LOSS_H_
#define TRAINYARD_BACKENDS_CHECK_LOSS_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

namespace trainyard {

// Throws c10::ValueError unless it is a scalar with a gradient function.
inline void CheckLoss(const at::Tensor& loss) {
  TORCH_CHECK_VALUE(loss.defined(),
                    "the step returned no loss; return a scalar tensor, or "
                    "call Backward in it");
  TORCH_CHECK_VALUE(loss.numel() == 1, "the loss has shape ", loss.sizes(),
                    "; reduce it to a scalar, e.g. by mean()");
  TORCH_CHECK_VALUE(loss.requires_grad(),
                    "the loss has no gradient: it does not depend on a "
                    "parameter that requires one");
}

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_CHECK_LOSS_H_

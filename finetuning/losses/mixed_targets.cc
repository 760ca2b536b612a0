#include "finetuning/losses/mixed_targets.h"

#include <c10/util/Exception.h>

namespace trainyard {
namespace {

void Check(const char* name, const at::Tensor& outputs,
           const at::Tensor& target) {
  TORCH_CHECK_VALUE(outputs.dim() == 2, name, ": outputs are ", outputs.sizes(),
                    "; they must be N x classes");
  // cross_entropy_loss would misread one float per row, or integers per class.
  const bool shares =
      target.is_floating_point() && target.sizes() == outputs.sizes();
  const bool numbers = target.scalar_type() == at::kLong && target.dim() == 1 &&
                       target.size(0) == outputs.size(0);
  TORCH_CHECK_VALUE(
      shares || numbers, name, ": the target is ", target.scalar_type(), " ",
      target.sizes(), " for outputs of ", outputs.sizes(),
      "; it must be class indices (Long, N) or class probabilities "
      "(floats, N x classes)");
}

}  // namespace

OutputsAndTarget MixedCrossEntropy(double label_smoothing) {
  const OutputsAndTarget loss = CrossEntropy(label_smoothing);
  return [loss](const at::Tensor& outputs, const at::Tensor& target) {
    Check("MixedCrossEntropy", outputs, target);
    return loss(outputs, target);
  };
}

OutputsAndTarget MixedAccuracy() {
  return [](const at::Tensor& outputs, const at::Tensor& target) {
    Check("MixedAccuracy", outputs, target);
    const at::Tensor right = target.dim() == 1 ? target : target.argmax(1);
    return outputs.argmax(1).eq(right).to(at::kFloat).mean();
  };
}

}  // namespace trainyard

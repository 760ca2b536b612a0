#include "trainer/losses.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <c10/util/Exception.h>

namespace trainyard {

std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> CrossEntropy(
    double label_smoothing) {
  TORCH_CHECK_VALUE(label_smoothing >= 0 && label_smoothing <= 1,
                    "CrossEntropy: label_smoothing is ", label_smoothing,
                    "; it must be from 0 to 1");
  return
      [label_smoothing](const at::Tensor& outputs, const at::Tensor& target) {
        return at::cross_entropy_loss(outputs, target, /*weight=*/{},
                                      at::Reduction::Mean,
                                      /*ignore_index=*/-100, label_smoothing);
      };
}

std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> Accuracy() {
  return [](const at::Tensor& outputs, const at::Tensor& target) {
    return outputs.argmax(1).eq(target).to(at::kFloat).mean();
  };
}

}  // namespace trainyard

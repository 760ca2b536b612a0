#include "trainer/losses.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/topk.h>
#include <c10/util/Exception.h>

namespace trainyard {
namespace {

void CheckSameShape(const char* name, const at::Tensor& outputs,
                    const at::Tensor& target) {
  TORCH_CHECK_VALUE(outputs.sizes() == target.sizes(), name, ": outputs are ",
                    outputs.sizes(), " and the target is ", target.sizes(),
                    "; they must have the same shape");
}

}  // namespace

OutputsAndTarget CrossEntropy(double label_smoothing) {
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

OutputsAndTarget MeanSquaredError() {
  return [](const at::Tensor& outputs, const at::Tensor& target) {
    CheckSameShape("MeanSquaredError", outputs, target);
    return at::mse_loss(outputs, target);
  };
}

OutputsAndTarget BinaryCrossEntropy() {
  return [](const at::Tensor& outputs, const at::Tensor& target) {
    CheckSameShape("BinaryCrossEntropy", outputs, target);
    return at::binary_cross_entropy_with_logits(outputs, target);
  };
}

OutputsAndTarget Accuracy() {
  return [](const at::Tensor& outputs, const at::Tensor& target) {
    return outputs.argmax(1).eq(target).to(at::kFloat).mean();
  };
}

OutputsAndTarget TopKAccuracy(int64_t k) {
  TORCH_CHECK_VALUE(k >= 1, "TopKAccuracy: k is ", k,
                    "; it must be at least 1");
  return [k](const at::Tensor& outputs, const at::Tensor& target) {
    TORCH_CHECK_VALUE(k <= outputs.size(1), "TopKAccuracy: k is ", k,
                      " and there are ", outputs.size(1), " classes");
    const at::Tensor best = std::get<1>(at::topk(outputs, k, 1));
    return best.eq(target.unsqueeze(1)).any(1).to(at::kFloat).mean();
  };
}

}  // namespace trainyard

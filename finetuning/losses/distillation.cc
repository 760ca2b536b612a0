#include "finetuning/losses/distillation.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/log_softmax.h>
#include <c10/util/Exception.h>

namespace trainyard {

DistillationLoss::DistillationLoss(const DistillationOptions& options)
    : options_(options) {
  TORCH_CHECK_VALUE(options_.temperature > 0, "DistillationLoss: temperature ",
                    "is ", options_.temperature, "; it must be above 0");
  TORCH_CHECK_VALUE(options_.alpha >= 0 && options_.alpha <= 1,
                    "DistillationLoss: alpha is ", options_.alpha,
                    "; it must be from 0 to 1");
}

at::Tensor DistillationLoss::operator()(const at::Tensor& student,
                                        const at::Tensor& teacher,
                                        const at::Tensor& target) const {
  TORCH_CHECK_VALUE(student.dim() >= 2 && student.sizes() == teacher.sizes(),
                    "DistillationLoss: the student's logits are ",
                    student.sizes(), " and the teacher's ", teacher.sizes(),
                    "; they must have the same shape, [..., classes]");
  TORCH_CHECK_VALUE(target.sizes() == student.sizes().slice(0, target.dim()) &&
                        target.dim() == student.dim() - 1,
                    "DistillationLoss: the target is ", target.sizes(),
                    " for logits of ", student.sizes(),
                    "; it must have all dimensions but the last");
  const at::Tensor rows = student.flatten(0, -2);
  const at::Tensor labels = target.flatten();
  const double t = options_.temperature;
  // Both in log space, so that a probability of 0 does not give 0 * log 0.
  const at::Tensor per_row =
      at::kl_div(at::log_softmax(rows.div(t), -1),
                 at::log_softmax(teacher.detach().flatten(0, -2).div(t), -1),
                 at::Reduction::None, /*log_target=*/true)
          .sum(-1);
  const at::Tensor counted =
      labels.ne(options_.ignore_index).to(per_row.scalar_type());
  const at::Tensor soft = per_row.mul(counted).sum().div(counted.sum());
  const at::Tensor hard = at::cross_entropy_loss(
      rows, labels, /*weight=*/{}, at::Reduction::Mean, options_.ignore_index);
  return soft.mul(options_.alpha * t * t).add(hard.mul(1 - options_.alpha));
}

}  // namespace trainyard

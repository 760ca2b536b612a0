// Knowledge distillation (Hinton, Vinyals and Dean, 2015): a student learns
// from a teacher's softened probabilities, and from the labels.
//
//   const DistillationLoss loss({.temperature = 4, .alpha = 0.9});
//   loss(student->forward(x), teacher->forward(x).detach(), labels)
//       .backward();
//
// alpha * T^2 * KL(teacher at T || student at T) + (1 - alpha) * cross entropy,
// each the mean over the rows. T^2 keeps the first term's gradients at the
// second one's size, whatever T is. See distilled.h for a ready task.
//
// Thread-safe.
#ifndef TRAINYARD_FINETUNING_LOSSES_DISTILLATION_H_
#define TRAINYARD_FINETUNING_LOSSES_DISTILLATION_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace trainyard {

struct DistillationOptions {
  // What logits are divided by: the higher, the more the teacher's opinion of
  // wrong classes counts. REQUIRES: > 0.
  double temperature = 4;
  // The teacher's share of the loss; the labels have the rest. REQUIRES: 0 <=
  // alpha <= 1.
  double alpha = 0.9;
  // Rows with this label count in neither term, e.g. padding of texts.
  int64_t ignore_index = -100;
};

class DistillationLoss {
 public:
  // Throws c10::ValueError for options out of range.
  explicit DistillationLoss(const DistillationOptions& options = {});

  // A scalar. Logits are … x classes and of equal shape, the target's shape is
  // that of the first dimensions. Gradients go to the student only.
  at::Tensor operator()(const at::Tensor& student, const at::Tensor& teacher,
                        const at::Tensor& target) const;

 private:
  DistillationOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LOSSES_DISTILLATION_H_

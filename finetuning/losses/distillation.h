// DistillationLoss is the loss of knowledge distillation (Hinton, Vinyals and
// Dean, 2015): a student learns from a teacher's softened probabilities and
// from the labels.
//
//   const DistillationLoss loss({.temperature = 4, .alpha = 0.9});
//   loss(student->forward(x), teacher->forward(x).detach(), labels)
//       .backward();
//
// The loss is alpha * T^2 * KL(teacher at T || student at T) + (1 - alpha) *
// cross entropy, each the mean over the rows. The factor T^2 keeps the
// gradients of both terms at the same scale for every T. distilled.h has a
// ready task.
//
// Thread-safe.
#ifndef TRAINYARD_FINETUNING_LOSSES_DISTILLATION_H_
#define TRAINYARD_FINETUNING_LOSSES_DISTILLATION_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace trainyard {

struct DistillationOptions {
  // Logits are divided by it. A higher temperature gives more weight to the
  // teacher's probabilities of wrong classes. REQUIRES: > 0.
  double temperature = 4;
  // Weight of the teacher's term; the labels' term has 1 - alpha. REQUIRES: 0
  // <= alpha <= 1.
  double alpha = 0.9;
  // Rows with this label are excluded from both terms, e.g. padding.
  int64_t ignore_index = -100;
};

class DistillationLoss {
 public:
  // Throws c10::ValueError if an option is out of range.
  explicit DistillationLoss(const DistillationOptions& options = {});

  // Returns a scalar. Both logits have the shape [..., classes], the target has
  // [...]. Only the student gets gradients. Throws c10::ValueError if the
  // shapes do not fit.
  at::Tensor operator()(const at::Tensor& student, const at::Tensor& teacher,
                        const at::Tensor& target) const;

 private:
  DistillationOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LOSSES_DISTILLATION_H_

// Distilled makes a task for knowledge distillation, from a student model, a
// teacher and metrics for evaluation.
//
//   const auto task = Distilled(
//       student, [&](const at::Tensor& x) { return teacher->forward(x); },
//       {.temperature = 4}, {{"accuracy", Accuracy()}});
//
// The teacher runs without gradients. It is not part of the run: put it into
// evaluation mode and onto the backend's device first; checkpoints do not
// contain it. Evaluation uses the student only, with cross entropy as loss.
//
// Thread-compatible.
#ifndef TRAINYARD_FINETUNING_LOSSES_DISTILLED_H_
#define TRAINYARD_FINETUNING_LOSSES_DISTILLED_H_

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <functional>
#include <memory>
#include <utility>

#include "finetuning/losses/distillation.h"
#include "trainer/data/batch.h"
#include "trainer/losses.h"
#include "trainer/supervised.h"

namespace trainyard {

// Returns the teacher's logits for an input.
using Teacher = std::function<at::Tensor(const at::Tensor& input)>;

// A SupervisedTask that trains with DistillationLoss.
template <class Model>
class DistilledTask final : public SupervisedTask<Model> {
 public:
  DistilledTask(Model student, Teacher teacher,
                const DistillationOptions& options, NamedMetrics metrics)
      : SupervisedTask<Model>(std::move(student), CrossEntropy(),
                              std::move(metrics)),
        teacher_(std::move(teacher)),
        loss_(options) {
    TORCH_CHECK_VALUE(teacher_ != nullptr,
                      "Distilled: teacher is empty; pass a function from input "
                      "to logits");
  }

 private:
  at::Tensor TrainLoss(const Example& batch,
                       const at::Tensor& outputs) const override {
    return loss_(outputs, TeacherLogits(batch.input), batch.target);
  }

  at::Tensor TeacherLogits(const at::Tensor& input) const {
    const c10::AutoGradMode no_gradients(false);
    return teacher_(input);
  }

  Teacher teacher_;
  DistillationLoss loss_;
};

// `student` is a module holder (what TORCH_MODULE makes) or a shared_ptr to a
// Model with `forward`.
template <class Model>
std::unique_ptr<Task> Distilled(Model student, Teacher teacher,
                                const DistillationOptions& options = {},
                                NamedMetrics metrics = {}) {
  return std::make_unique<DistilledTask<Model>>(
      std::move(student), std::move(teacher), options, std::move(metrics));
}

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LOSSES_DISTILLED_H_

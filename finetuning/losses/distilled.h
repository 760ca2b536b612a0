// Distilled is the ready task for knowledge distillation: a student model, a
// teacher that is only asked, and metrics for evaluation.
//
//   Trainer trainer(
//       Distilled(student, [teacher](const at::Tensor& x) mutable {
//         return teacher->forward(x);
//       }, {.temperature = 4}, {{"accuracy", Accuracy()}}),
//       optimizer, *backend);
//
// The teacher is asked without gradients and is no part of the run: it must be
// in evaluation mode and on the backend's device, and is not saved. Evaluation
// is of the student alone, by the labels' cross entropy.
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
#include "trainer/task.h"

namespace trainyard {

using Teacher = std::function<at::Tensor(const at::Tensor& input)>;

template <class Model>
class DistilledTask final : public TaskOf<Example> {
 public:
  DistilledTask(Model student, Teacher teacher,
                const DistillationOptions& options, NamedMetrics metrics)
      : student_(std::move(student)),
        teacher_(std::move(teacher)),
        loss_(options),
        metrics_(std::move(metrics)) {
    TORCH_CHECK_VALUE(teacher_ != nullptr, "Distilled: there is no teacher");
    if constexpr (requires { student_.ptr(); }) {
      AddModel("model", student_.ptr());
    } else {
      AddModel("model", student_);
    }
  }

  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const at::Tensor outputs = student_->forward(batch.input);
    step.ForwardDone(outputs);
    return {.loss = loss_(outputs, Asked(batch.input), batch.target)};
  }

  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    const at::Tensor outputs = student_->forward(batch.input);
    step.ForwardDone(outputs);
    StepOutput output{.loss = CrossEntropy()(outputs, batch.target)};
    for (const auto& [name, metric] : metrics_)
      output.metrics.emplace_back(name, metric.of_batch(outputs, batch.target));
    return output;
  }

  MetricReducers EvalReducers() const override { return ReducersOf(metrics_); }

 private:
  at::Tensor Asked(const at::Tensor& input) const {
    const c10::AutoGradMode no_gradients(false);
    return teacher_(input);
  }

  Model student_;
  Teacher teacher_;
  DistillationLoss loss_;
  NamedMetrics metrics_;
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

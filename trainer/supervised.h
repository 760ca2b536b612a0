// Supervised is the ready task: a model from input to outputs, a loss of
// outputs and target, and metrics for evaluation.
//
//   Trainer trainer(
//       Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
//       optimizer, *backend);
//
// The model is any torch::nn module with `at::Tensor forward(const
// at::Tensor&)` (or by value), or a shared ScriptModel or ExportedModel.
#ifndef TRAINYARD_TRAINER_SUPERVISED_H_
#define TRAINYARD_TRAINER_SUPERVISED_H_

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/losses.h"
#include "trainer/supervised_metric.h"
#include "trainer/task.h"

namespace trainyard {

template <class Model>
class SupervisedTask : public TaskOf<Example> {
 public:
  SupervisedTask(Model model, OutputsAndTarget loss, NamedMetrics metrics)
      : model_(std::move(model)),
        loss_(std::move(loss)),
        metrics_(std::move(metrics)) {
    TORCH_CHECK_VALUE(loss_ != nullptr,
                      "Supervised: there is no loss function");
    if constexpr (requires { model_.ptr(); }) {
      AddModel("model", model_.ptr());
    } else {
      AddModel("model", model_);
    }
  }

  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const at::Tensor outputs = model_->forward(batch.input);
    step.ForwardDone(outputs);
    return {.loss = TrainLoss(batch, outputs)};
  }

  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    const at::Tensor outputs = model_->forward(batch.input);
    step.ForwardDone(outputs);
    StepOutput output{.loss = loss_(outputs, batch.target)};
    for (const auto& [name, metric] : metrics_)
      output.metrics.emplace_back(name, metric.of_batch(outputs, batch.target));
    output.outputs = outputs;
    return output;
  }

  MetricReducers EvalReducers() const override { return ReducersOf(metrics_); }

 private:
  // The loss of a training batch; evaluation always uses `loss`.
  virtual at::Tensor TrainLoss(const Example& batch,
                               const at::Tensor& outputs) const {
    return loss_(outputs, batch.target);
  }

  Model model_;
  OutputsAndTarget loss_;
  NamedMetrics metrics_;
};

// `model` is a module holder (what TORCH_MODULE makes) or a shared_ptr to a
// Model with `forward`, so it is shared and not copied.
template <class Model>
std::unique_ptr<Task> Supervised(Model model, OutputsAndTarget loss,
                                 NamedMetrics metrics = {}) {
  return std::make_unique<SupervisedTask<Model>>(
      std::move(model), std::move(loss), std::move(metrics));
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_SUPERVISED_H_

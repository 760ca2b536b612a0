#include "trainer/exported/compiled_task.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <utility>

#include "trainer/data/batch.h"

namespace trainyard {
namespace {

class CompiledTask final : public TaskOf<Example> {
 public:
  CompiledTask(std::shared_ptr<ExportedModel> model,
               std::shared_ptr<CompiledStep> step, OutputsAndTarget loss,
               NamedMetrics metrics)
      : model_(std::move(model)),
        step_(std::move(step)),
        loss_(std::move(loss)),
        metrics_(std::move(metrics)) {
    TORCH_CHECK_VALUE(model_ != nullptr && step_ != nullptr,
                      "CompiledSupervised: the model or the step is null");
    TORCH_CHECK_VALUE(loss_ != nullptr,
                      "CompiledSupervised: there is no loss function");
    AddModel("model", model_);
  }

  StepOutput TrainStep(const Example& batch, StepContext& step) override {
    const std::vector<at::Tensor> inputs = {batch.input, batch.target};
    if (!step_->Takes(inputs)) {
      const at::Tensor outputs = model_->forward(batch.input);
      step.ForwardDone(outputs);
      return {.loss = loss_(outputs, batch.target)};
    }
    CompiledStep::Output output = step_->Run(inputs);
    if (!is_checked_) CheckLoss(output, batch.target);
    step.ForwardDone(output.outputs[0]);
    return {.loss = std::move(output.loss)};
  }

  StepOutput EvalStep(const Example& batch, StepContext& step) override {
    const at::Tensor outputs = model_->forward(batch.input);
    step.ForwardDone(outputs);
    StepOutput output{.loss = loss_(outputs, batch.target)};
    for (const auto& [name, metric] : metrics_) {
      output.metrics.emplace_back(name, metric.of_batch(outputs, batch.target));
    }
    output.outputs = outputs;
    return output;
  }

  MetricReducers EvalReducers() const override { return ReducersOf(metrics_); }

 private:
  // The library and the graphs must train for the same.
  void CheckLoss(const CompiledStep::Output& output, const at::Tensor& target) {
    is_checked_ = true;
    const at::NoGradGuard no_gradients;
    const double own = loss_(output.outputs.at(0), target).item<double>();
    const double compiled = output.loss.item<double>();
    const bool differ = std::abs(own - compiled) > 1e-3 * std::abs(own) + 1e-6;
    TORCH_CHECK_VALUE(!differ, "CompiledSupervised: the library's loss is ",
                      compiled, ", and the given loss function says ", own,
                      "; pass the loss that the library was compiled with");
  }

  std::shared_ptr<ExportedModel> model_;
  std::shared_ptr<CompiledStep> step_;
  OutputsAndTarget loss_;
  NamedMetrics metrics_;
  bool is_checked_ = false;
};

}  // namespace

std::unique_ptr<Task> CompiledSupervised(std::shared_ptr<ExportedModel> model,
                                         std::shared_ptr<CompiledStep> step,
                                         OutputsAndTarget loss,
                                         NamedMetrics metrics) {
  return std::make_unique<CompiledTask>(std::move(model), std::move(step),
                                        std::move(loss), std::move(metrics));
}

}  // namespace trainyard

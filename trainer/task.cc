#include "trainer/task.h"

#include <c10/util/Exception.h>

namespace trainyard {

std::unique_ptr<BatchSource> Task::TrainLoader(const LoaderRequest& request) {
  return LoadShuffled(request);
}

std::unique_ptr<BatchSource> Task::EvalLoader(const LoaderRequest& request) {
  return LoadInOrder(request);
}

void Task::BackwardStep(const StepOutput& output, StepContext& step) {
  TORCH_CHECK_VALUE(output.loss.defined(),
                    "TrainStep returned no loss and did not call Backward; "
                    "return the batch's mean loss");
  step.Backward(output.loss, output.weight);
}

void Task::OptimizerStep(Optimizer& optimizer, const Clip& clip,
                         StepContext& step) {
  step.Update(optimizer, clip);
}

void Task::ScheduleStep(Optimizer& optimizer, StepContext& step) {
  step.StepSchedules(optimizer, StepOn::kUpdate);
}

void Task::ZeroGradStep(Optimizer& optimizer) { optimizer.ZeroGrad(); }

Metrics Task::EvaluateDataset(BatchSource&, StepContext&) {
  C10_THROW_ERROR(NotImplementedError, "this task evaluates batch by batch");
}

void Task::AddModel(std::string name,
                    std::shared_ptr<torch::nn::Module> model) {
  AddModel(std::move(name), NnModel(std::move(model)));
}

void Task::AddModel(std::string name, std::shared_ptr<Model> model) {
  TORCH_CHECK_VALUE(model != nullptr, "Task: model \"", name, "\" is empty");
  for (const auto& [other, module] : models_)
    TORCH_CHECK_VALUE(other != name, "Task: two models are named \"", name,
                      "\"");
  models_.emplace_back(std::move(name), std::move(model));
}

void Task::AddOptimizer(std::string name, Optimizer& optimizer) {
  for (const NamedOptimizer& other : optimizers_)
    TORCH_CHECK_VALUE(other.name != name, "Task: two optimizers are named \"",
                      name, "\"");
  optimizers_.push_back({std::move(name), &optimizer});
}

void Task::SetTraining(bool training) {
  for (const auto& [name, model] : models_) model->SetTraining(training);
}

void Task::To(at::Device device) {
  for (const auto& [name, model] : models_) model->To(device);
}

std::vector<NamedTensor> Task::NamedTensors() const {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, model] : models_) {
    const std::string prefix = models_.size() == 1 ? "" : name + ".";
    for (const auto& list : {model->Parameters(), model->Buffers()}) {
      for (const auto& [key, tensor] : list) {
        tensors.push_back({prefix + key, tensor});
      }
    }
  }
  SortByName(tensors);
  return tensors;
}

std::vector<ModelTensors> Task::Models() const {
  std::vector<ModelTensors> models;
  for (const auto& [name, model] : models_) {
    models.push_back(
        {name, model->Parameters(), model->Buffers(), model->Units()});
  }
  return models;
}

}  // namespace trainyard

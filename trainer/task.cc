#include "trainer/task.h"

#include <c10/util/Exception.h>
#include <torch/nn/module.h>

#include <algorithm>

namespace trainyard {

void Task::AddModel(std::string name,
                    std::shared_ptr<torch::nn::Module> model) {
  TORCH_CHECK_VALUE(model != nullptr, "Task: model \"", name, "\" is empty");
  for (const auto& [other, module] : models_)
    TORCH_CHECK_VALUE(other != name, "Task: two models are named \"", name,
                      "\"");
  models_.emplace_back(std::move(name), std::move(model));
}

void Task::SetTraining(bool training) {
  for (const auto& [name, model] : models_) {
    if (model->is_training() != training) model->train(training);
  }
}

void Task::To(at::Device device) {
  for (const auto& [name, model] : models_) model->to(device);
}

std::vector<NamedTensor> Task::State() const {
  std::vector<NamedTensor> state;
  for (const auto& [name, model] : models_) {
    const std::string prefix = models_.size() == 1 ? "" : name + ".";
    for (const auto& item : model->named_parameters())
      state.push_back({prefix + item.key(), item.value()});
    for (const auto& item : model->named_buffers())
      state.push_back({prefix + item.key(), item.value()});
  }
  std::sort(state.begin(), state.end(),
            [](const NamedTensor& a, const NamedTensor& b) {
              return a.name < b.name;
            });
  return state;
}

std::vector<ModelTensors> Task::Models() const {
  std::vector<ModelTensors> models;
  for (const auto& [name, module] : models_) {
    ModelTensors& model = models.emplace_back();
    model.name = name;
    for (const auto& item : module->named_parameters())
      model.parameters.push_back({item.key(), item.value()});
    for (const auto& item : module->named_buffers())
      model.buffers.push_back({item.key(), item.value()});
  }
  return models;
}

}  // namespace trainyard
